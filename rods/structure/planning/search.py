"""Sequences of functions that can have a seed's skeleton, drawn by likelihood."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rods.structure.planning.assigning import Assigner, Assignment, Feeders
from rods.structure.planning.catalog import Catalog
from rods.structure.planning.plausibility import Plausibility
from rods.structure.planning.skeleton import Labels, Skeleton
from rods.types import SourceKind

_NEEDED = 0.05  # share of pairs from which on a state edge between two functions is possible
_ALWAYS, _OFTEN_SEEN = 0.8, 4  # a pair with so high a share cannot go without the edge
_OFTEN_FAILED = 2  # for one reason at one place
_NODES = 250
_HEAT = 0.7  # below 1: less likely functions get more of a chance
_USUAL = -0.7  # log-probability that the calls still to come can hope for
_TIRED, _LEAST = 0.95, 0.02
Names = tuple[str, ...]
Links = Mapping[str, frozenset[str]]  # function -> functions


class Relations:
    """Which functions can follow which along each kind of edge."""

    def __init__(self, catalog: Catalog) -> None:
        feeds: dict[str, set[str]] = {}
        needs: dict[str, set[str]] = {}
        ties: dict[str, set[str]] = {}
        for pair in catalog.flows:
            producer, consumer = pair.split(" ")
            feeds.setdefault(producer, set()).add(consumer)
        for pair, (broken, seen) in catalog.hard.items():
            earlier, later = pair.split(" ")
            if broken > _NEEDED * seen:
                needs.setdefault(earlier, set()).add(later)
            if seen >= _OFTEN_SEEN and broken > _ALWAYS * seen:
                ties.setdefault(earlier, set()).add(later)
        self.feeds, self.needs, self.ties = _frozen(feeds), _frozen(needs), _frozen(ties)


def _frozen(links: Mapping[str, set[str]]) -> Links:
    return {name: frozenset(others) for name, others in links.items()}


_NONE: frozenset[str] = frozenset()


class Stuck:
    """Where plans have come to nothing: a world, and the functions up to the failing call."""

    def __init__(self) -> None:
        self._reasons: Counter[tuple[str, Names, str]] = Counter()
        self._places: set[tuple[str, Names]] = set()

    def note(self, place: tuple[str, Names], reason: str) -> None:
        """A call has failed there; for the same reason a few times, it will again."""
        self._reasons[*place, reason] += 1
        if self._reasons[*place, reason] >= _OFTEN_FAILED:
            self._places.add(place)

    def holds(self, place: tuple[str, Names]) -> bool:
        """It is no use to try that call again."""
        return place in self._places


@dataclass(slots=True)
class Space:
    """The functions that each call of the plan can be, in one choice of tools."""

    skeleton: Skeleton
    domains: list[frozenset[str]]
    edges: dict[tuple[int, int], tuple[bool, bool]]  # pair -> (data, hard)
    luck: list[dict[str, float]] = field(default_factory=list)  # per call: function -> factor
    dead_ends: int = 0  # draws in a row that led to nothing new
    assignable: dict[tuple[int, str, Feeders], bool] = field(default_factory=dict)
    exhausted: bool = False  # no new sequence is left
    unmended: Counter[str] = field(default_factory=Counter)  # failures that patches did not mend
    stuck: Stuck = field(default_factory=Stuck)

    def tire(self, names: Names, factor: float = _TIRED) -> None:
        """Functions that led to nothing new get less likely at their place."""
        for luck, name in zip(self.luck, names, strict=True):
            luck[name] = max(_LEAST, luck.get(name, 1.0) * factor)

    @property
    def empty(self) -> bool:
        """No plan exists here."""
        return not all(self.domains)


class Search:
    """Draws function names; nothing is executed."""

    def __init__(
        self, catalog: Catalog, assigner: Assigner, plausibility: Plausibility, threshold: float
    ) -> None:
        self.relations = Relations(catalog)
        self.assigner, self._plausibility = assigner, plausibility
        self._threshold, self._tools = threshold, sorted(catalog.tools)
        self._carrying: dict[Labels, frozenset[str]] = {}
        self._weights: dict[tuple[str, str], float] = {}

    def space(self, skeleton: Skeleton, tools: Iterable[str]) -> Space:
        """Domains after arc consistency over data and hard state edges."""
        offered = frozenset(tools)
        edges = {
            pair: (pair in skeleton.data, pair in skeleton.hard)
            for pair in sorted(skeleton.data | skeleton.hard)
        }
        domains = [self._carriers(labels) & offered for labels in skeleton.labels]
        space = Space(skeleton, domains, edges)
        self._make_consistent(space)
        space.luck = [{} for _ in skeleton.labels]
        return space

    def _carriers(self, labels: Labels) -> frozenset[str]:
        """All functions that can carry the labels of one call."""
        found = self._carrying.get(labels)
        if found is None:
            found = frozenset(n for n in self._tools if self.assigner.assignments(n, labels))
            self._carrying[labels] = found
        return found

    def _make_consistent(self, space: Space) -> None:
        changed = True
        while changed and not space.empty:
            changed = False
            for (i, j), edge in space.edges.items():
                earlier = frozenset(
                    f for f in space.domains[i] if self._after(f, edge) & space.domains[j]
                )
                reached = frozenset().union(*(self._after(f, edge) for f in earlier))
                later = space.domains[j] & reached
                changed |= earlier != space.domains[i] or later != space.domains[j]
                space.domains[i], space.domains[j] = earlier, later

    def _after(self, name: str, edge: tuple[bool, bool]) -> frozenset[str]:
        """The functions that an edge of this kind can lead to."""
        data, hard = edge
        fed = self.relations.feeds.get(name, _NONE)
        if data and hard:
            return fed & self.relations.needs.get(name, _NONE)
        return fed if data else self.relations.needs.get(name, _NONE)

    # ------------------------------------------------------------------------ drawing
    def draw(
        self, space: Space, rng: random.Random, is_new: Callable[[Names], bool]
    ) -> Names | None:
        """A plausible new sequence; None where this attempt ran into a dead end.

        ``space.exhausted`` says afterwards that there is none.
        """
        descent = _Descent(self, space, rng, is_new)
        names = descent.names()
        space.exhausted = names is None and descent.complete
        return names

    def fitting(self, space: Space, names: Sequence[str], call: int) -> frozenset[str]:
        """The functions that call ``call`` can be after these ``names``."""
        fits = space.domains[call]
        for earlier in range(call):
            name = names[earlier]
            edge = space.edges.get((earlier, call))
            if edge is not None:
                fits &= self._after(name, edge)
            if edge is None or not edge[1]:
                fits -= self.relations.ties.get(name, _NONE)
            if not fits:
                break
        return fits

    def neighbours(self, space: Space, names: Names) -> list[Names]:
        """The plausible sequences that differ from this one in one call."""
        foreign = [i for i, name in enumerate(names) if name not in space.domains[i]]
        places = foreign or range(len(names))  # what these tools cannot be has to change
        changed = (
            (*names[:call], other, *names[call + 1 :])
            for call in places
            if len(foreign) < 2
            for other in self.replacements(space, names, call)
        )
        return [n for n in changed if self.plausible(n) and self._carries(space, n)]

    def _carries(self, space: Space, names: Names) -> bool:
        return all(self.assignable(space, names, call, name) for call, name in enumerate(names))

    def replacements(self, space: Space, names: Names, call: int) -> list[str]:
        """Other functions for one call, with the calls before and after kept."""
        found = []
        for name in self.fitting(space, names, call) - {names[call]}:
            later = [edge for edge in space.edges.items() if edge[0][0] == call]
            if all(names[j] in self._after(name, kind) for (_, j), kind in later):
                found.append(name)
        previous = names[call - 1] if call else ""
        return sorted(found, key=lambda n: (-self.likely(previous, n), n))

    def likely(self, previous: str, name: str) -> float:
        """Log-probability of a function after another."""
        return self._plausibility.log_probability(previous, name)

    def weight(self, previous: str, name: str) -> float:
        """How often a draw prefers a function after another."""
        found = self._weights.get((previous, name))
        if found is None:
            found = self._weights[previous, name] = math.exp(_HEAT * self.likely(previous, name))
        return found

    def plausible(self, names: Names) -> bool:
        """The sequence scores as train tasks do."""
        return self._plausibility.score(names) >= self._threshold

    def bound(self, total: float, done: int, calls: int) -> bool:
        """A prefix with this summed score can still become plausible."""
        return total + _USUAL * (calls - done) >= self._threshold * calls

    def assignable(self, space: Space, names: Sequence[str], call: int, name: str) -> bool:
        """The function can carry the call's labels, fed by the functions before."""
        labels = space.skeleton.labels[call]
        fed = feeders(labels, names)
        known = space.assignable.get((call, name, fed))
        if known is None:
            known = bool(self.assigner.assignments(name, labels, fed))
            space.assignable[call, name, fed] = known
        return known


def feeders(labels: Labels, names: Sequence[str]) -> Feeders:
    """For every label the functions whose results it takes."""
    return tuple(tuple(names[p] for p in label.producers) for label in labels)


class _Descent:
    """One depth-first search in random order."""

    def __init__(
        self, search: Search, space: Space, rng: random.Random, is_new: Callable[[Names], bool]
    ) -> None:
        self._search, self._space, self._rng, self._is_new = search, space, rng, is_new
        self._left = _NODES
        self._calls = space.skeleton.calls

    @property
    def complete(self) -> bool:
        """Every sequence has been looked at."""
        return self._left >= 0

    def names(self) -> Names | None:
        chosen: list[str] = []
        return tuple(chosen) if self._extend(chosen, 0.0) else None

    def _extend(self, chosen: list[str], total: float) -> bool:
        call = len(chosen)
        if call == self._calls:
            names = tuple(chosen)
            if not self._search.plausible(names):
                return False
            if self._is_new(names):
                return True
            self._space.tire(names)
            return False
        previous = chosen[-1] if chosen else ""
        for name in self._order(chosen, previous):
            self._left -= 1
            if self._left < 0:
                return False
            score = total + self._search.likely(previous, name)
            if not self._search.bound(score, call + 1, self._calls):
                continue
            if not self._search.assignable(self._space, chosen, call, name):
                continue
            chosen.append(name)
            if self._extend(chosen, score):
                return True
            chosen.pop()
        return False

    def _order(self, chosen: list[str], previous: str) -> list[str]:
        """The fitting functions in an order drawn by weight."""
        call = len(chosen)
        luck = self._space.luck[call]
        keyed = []
        for name in sorted(self._search.fitting(self._space, chosen, call)):
            weight = self._search.weight(previous, name) * luck.get(name, 1.0)
            keyed.append((self._rng.expovariate(max(weight, 1e-9)), name))
        keyed.sort()
        return [name for _, name in keyed]


__all__ = ["Assignment", "Names", "Search", "SourceKind", "Space", "feeders"]
