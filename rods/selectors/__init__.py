"""Which entries get variants: the paper's rule, and two that it is compared with."""

from rods.selectors.boundary import BoundarySelector
from rods.selectors.controls import RandomSelector, UniformSelector

__all__ = ["BoundarySelector", "RandomSelector", "UniformSelector"]
