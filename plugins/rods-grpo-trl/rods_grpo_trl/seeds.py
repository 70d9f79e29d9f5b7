"""Every random stream of the trainer, derived: nothing has to be saved to resume it."""

from __future__ import annotations

import hashlib


def derive_seed(*parts: int | str) -> int:
    """A seed in [0, 2**63) that is a function of ``parts`` alone, on every machine."""
    key = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1
