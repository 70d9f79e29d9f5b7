"""How the pool crosses an epoch boundary: the paper's replay buffer, and a fixed pool."""

from rods.buffers.dual_control import DualControlBuffer
from rods.buffers.static import StaticBuffer

__all__ = ["DualControlBuffer", "StaticBuffer"]
