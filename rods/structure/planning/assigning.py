"""Which parameter of a function carries which label of a call."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from rods.structure.constants import Constants, Key
from rods.structure.planning.catalog import Catalog, ParameterFacts
from rods.structure.planning.derivations import Derivations
from rods.structure.planning.skeleton import Labels
from rods.structure.sources import field_fits
from rods.types import SourceKind

Feeders = tuple[tuple[str, ...], ...]  # for every label the functions whose results it takes
Assignment = tuple[str, ...]  # for every label its parameter
_MOST = 6
_TRIED = 400  # leaves of the backtracking
_NUMBER = ("number", "integer")


class Assigner:
    """Answers are kept: the same few questions come up again and again."""

    def __init__(self, catalog: Catalog, constants: Constants, derivations: Derivations) -> None:
        self._catalog = catalog
        self._fed: dict[tuple[str, str], set[str]] = {}  # (producer, consumer) -> parameters
        self._feedable: dict[str, set[str]] = {}
        for pair, flows in catalog.flows.items():
            producer, consumer = pair.split(" ")
            parameters = {flow.parameter for flow in flows}
            self._fed[producer, consumer] = parameters
            self._feedable.setdefault(consumer, set()).update(parameters)
        self._kinds = {
            (tool, name): frozenset(
                _kinds(name, parameter, constants.get((tool, name), frozenset()), derivations)
            )
            for tool, facts in catalog.tools.items()
            for name, parameter in facts.parameters.items()
        }
        self._known: dict[tuple[str, Labels, Feeders | None], tuple[Assignment, ...]] = {}

    def assignments(
        self, tool: str, labels: Labels, feeders: Feeders | None = None
    ) -> tuple[Assignment, ...]:
        """The most usual ways to carry the labels; none where the function cannot."""
        key = (tool, labels, feeders)
        if key not in self._known:
            self._known[key] = tuple(self._found(tool, labels, feeders))
        return self._known[key]

    def _found(self, tool: str, labels: Labels, feeders: Feeders | None) -> list[Assignment]:
        parameters = self._catalog.tools[tool].parameters
        required = [n for n, p in parameters.items() if p.required]
        if not len(required) <= len(labels) <= len(parameters):
            return []
        allowed = [self._allowed(tool, labels, i, feeders) for i in range(len(labels))]
        found: list[Assignment] = []
        for number, chosen in enumerate(_matchings(labels, allowed, frozenset(required))):
            if number >= _TRIED:
                break
            found.append(chosen)
        found.sort(key=lambda a: -self._usual(parameters, labels, a))
        return found[:_MOST]

    def _allowed(self, tool: str, labels: Labels, i: int, feeders: Feeders | None) -> list[str]:
        label = labels[i]
        names = self._catalog.tools[tool].parameters
        if label.producers:
            if feeders is None:
                return [n for n in names if n in self._feedable.get(tool, ())]
            fed = [self._fed.get((producer, tool), set()) for producer in feeders[i]]
            return [n for n in names if all(n in some for some in fed)]
        return [n for n in names if label.kind in self._kinds[tool, n]]

    def _usual(
        self, parameters: Mapping[str, ParameterFacts], labels: Labels, chosen: Assignment
    ) -> float:
        """How much the assignment looks like what train references do."""
        total = 0.0
        for label, name in zip(labels, chosen, strict=True):
            seen = parameters[name].labels
            total += math.log((seen.get(label.kind.value, 0) + 0.3) / (sum(seen.values()) + 1))
        return total


def _matchings(
    labels: Labels, allowed: list[list[str]], required: frozenset[str], taken: Assignment = ()
) -> Iterator[Assignment]:
    """Every choice of different parameters that leaves no required one out.

    Parameters of equal labels come in their order: another order would be the same assignment.
    """
    if len(taken) == len(allowed):
        if required <= set(taken):
            yield taken
        return
    if len(required - set(taken)) > len(allowed) - len(taken):
        return
    call, names = len(taken), allowed[len(taken)]
    if call and labels[call] == labels[call - 1]:
        names = names[names.index(taken[-1]) + 1 :]
    for name in names:
        if name not in taken:
            yield from _matchings(labels, allowed, required, (*taken, name))


def _kinds(
    name: str, facts: ParameterFacts, constants: Collection[Key], derivations: Derivations
) -> Iterator[SourceKind]:
    """The labels that the parameter's values can have, results apart."""
    if facts.kind == "boolean":
        yield SourceKind.CONSTANT
        return
    numeric = facts.kind in _NUMBER or facts.items in _NUMBER
    if facts.closed or facts.homes or facts.values or facts.suggested or facts.prose or numeric:
        yield SourceKind.USER
    if constants or SourceKind.CONSTANT in facts.labels:
        yield SourceKind.CONSTANT
    if SourceKind.STATE in facts.labels or (facts.homes and not facts.fresh):
        yield SourceKind.STATE
    amount = numeric and not facts.closed and not field_fits((name,), "id_ids")
    if SourceKind.DERIVED in facts.labels or facts.prose or amount:
        yield SourceKind.DERIVED
    elif facts.kind == "string" and facts.values and facts.fresh:
        some = facts.values[:10]
        if sum(_derivable(value, derivations) for value in some) * 2 > len(some):
            yield SourceKind.DERIVED


def _derivable(value: object, derivations: Derivations) -> bool:
    return isinstance(value, str) and any(derivations.phrases(value))
