"""The generator of a world, seeded when it is first needed."""

from __future__ import annotations

import random
from typing import Any


class LazyRandom:
    """Python's generator with the given seed, seeded at the first draw; the draws are the same."""

    __slots__ = ("_generator", "_seed")

    def __init__(self, seed: Any) -> None:
        self._seed = seed
        self._generator: random.Random | None = None

    def _drawing(self) -> random.Random:
        if self._generator is None:
            self._generator = random.Random(self._seed)
        return self._generator

    def randint(self, low: int, high: int) -> int:
        """As ``random.Random.randint``."""
        return self._drawing().randint(low, high)

    def uniform(self, low: float, high: float) -> float:
        """As ``random.Random.uniform``."""
        return self._drawing().uniform(low, high)

    def copy(self) -> LazyRandom:
        """A generator that goes on with the same draws, independent of this one."""
        twin = LazyRandom(self._seed)
        if self._generator is not None:
            twin._generator = random.Random()
            twin._generator.setstate(self._generator.getstate())
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> LazyRandom:
        return self.copy()
