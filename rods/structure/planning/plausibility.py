"""How likely a sequence of functions is, judged by those of the train tasks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

_START = ""
_PRIOR = 2.0  # pseudo-counts of the back-off
Names = tuple[str, ...]


class Plausibility:
    """Bigrams of functions; pairs never seen fall back on the groups of their tools."""

    def __init__(self, sequences: Sequence[Names], groups: Mapping[str, int]) -> None:
        self._sequences = sorted(set(sequences))
        self._groups = groups
        self._sizes = Counter(groups.values())
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._firsts: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()
        self._group_pairs: Counter[tuple[int, int]] = Counter()
        self._group_firsts: Counter[int] = Counter()
        self._group_uses: Counter[int] = Counter()
        self._known: dict[tuple[str, str], float] = {}
        for names in self._sequences:
            self._count(names, 1)

    def _group(self, name: str) -> int:
        return self._groups.get(name, -1)

    def _count(self, names: Names, sign: int) -> None:
        for earlier, later in zip((_START, *names), names, strict=False):
            a, b = self._group(earlier), self._group(later)
            self._pairs[earlier, later] += sign
            self._firsts[earlier] += sign
            self._uses[later] += sign
            self._group_pairs[a, b] += sign
            self._group_firsts[a] += sign
            self._group_uses[b] += sign
        self._known.clear()

    def log_probability(self, earlier: str, later: str) -> float:
        """Of ``later`` as the function called after ``earlier`` (empty: the first one)."""
        found = self._known.get((earlier, later))
        if found is None:
            found = self._known[earlier, later] = self._computed(earlier, later)
        return found

    def _computed(self, earlier: str, later: str) -> float:
        a, b = self._group(earlier), self._group(later)
        groups = len(self._sizes)
        to_group = (self._group_pairs[a, b] + 0.5) / (self._group_firsts[a] + 0.5 * groups)
        within = (self._uses[later] + 0.3) / (self._group_uses[b] + 0.3 * self._sizes[b])
        back = to_group * within
        return math.log(
            (self._pairs[earlier, later] + _PRIOR * back) / (self._firsts[earlier] + _PRIOR)
        )

    def score(self, names: Names) -> float:
        """Mean log-probability of a call after its predecessor."""
        if not names:
            return 0.0
        pairs = zip((_START, *names), names, strict=False)
        return sum(self.log_probability(a, b) for a, b in pairs) / len(names)

    def threshold(self, quantile: float) -> float:
        """The score below which ``quantile`` of the train tasks lie, each judged by the others.

        Minus infinity where that is less than one task.
        """
        if quantile * len(self._sequences) < 1:
            return -math.inf
        scores = []
        for names in self._sequences:
            self._count(names, -1)
            scores.append(self.score(names))
            self._count(names, 1)
        return sorted(scores)[int(quantile * len(scores))]
