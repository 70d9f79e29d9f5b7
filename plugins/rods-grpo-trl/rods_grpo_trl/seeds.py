"""Every random stream of the trainer, derived: nothing has to be saved to resume it."""

from __future__ import annotations

from rods.random_seeds import derived_seed


def derive_seed(*parts: int | str) -> int:
    """A seed in [0, 2**63) that is a function of ``parts`` alone, on every machine."""
    return derived_seed(*parts, bits=63)
