"""How far apart two profiles are: 0 for isomorphic ones, up to 1 for nothing in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from importlib import import_module
from typing import Any

from rods.types import ComplexityProfile

_KIND_WEIGHT = 0.25
_LEAST = 1e-3  # of profiles that share every count and still are not isomorphic


def distance(a: ComplexityProfile, b: ComplexityProfile) -> float:
    """0 exactly when one profile is the other with the calls of a turn in another order.

    Otherwise the share of nodes (turn, tool, sources) and labelled edges that have no partner,
    plus a quarter for another kind.
    """
    if isomorphic(a, b):
        return 0.0
    nodes, edges = _unmatched(_nodes(a), _nodes(b)), _unmatched(_edges(a), _edges(b))
    turns = abs(a.turns - b.turns) / max(a.turns, b.turns, 1)
    shape = (2 * nodes + edges + turns) / (4 if a.edges or b.edges else 3)
    other_kind = _KIND_WEIGHT * (a.kind != b.kind)
    return max(_LEAST, min(1.0, (1 - _KIND_WEIGHT) * shape + other_kind))


def isomorphic(a: ComplexityProfile, b: ComplexityProfile) -> bool:
    """The labelled graphs are one: same kind, turns, tools, sources and edges."""
    if a.kind != b.kind or a.calls_per_turn != b.calls_per_turn or a.depth != b.depth:
        return False
    if a.tools == b.tools and a.sources == b.sources and a.edges == b.edges:
        return True
    if Counter(_nodes(a)) != Counter(_nodes(b)) or Counter(_edges(a)) != Counter(_edges(b)):
        return False
    return _matches(a, b)


def _matches(a: ComplexityProfile, b: ComplexityProfile) -> bool:
    """VF2 on the labelled graphs; reached only if all label counts agree."""
    nx = import_module("networkx")  # 0.2 s, and rarely needed
    same = nx.algorithms.isomorphism.categorical_node_match("label", None)
    return bool(nx.is_isomorphic(_graph(nx, a), _graph(nx, b), node_match=same, edge_match=same))


def _graph(nx: Any, profile: ComplexityProfile) -> Any:
    graph = nx.DiGraph()
    for call, label in enumerate(_nodes(profile)):
        graph.add_node(call, label=label)
    parameters: dict[tuple[int, int], list[str]] = {}
    for edge in profile.edges:
        parameters.setdefault((edge.producer, edge.consumer), []).append(edge.parameter)
    for (producer, consumer), names in parameters.items():
        graph.add_edge(producer, consumer, label=tuple(sorted(names)))
    return graph


def _nodes(profile: ComplexityProfile) -> list[Hashable]:
    """One label a call: turn, tool, sources by parameter."""
    turn_of = [t for t, calls in enumerate(profile.calls_per_turn) for _ in range(calls)]
    return [
        (turn, tool, tuple(sorted(sources.items())))
        for turn, tool, sources in zip(turn_of, profile.tools, profile.sources, strict=True)
    ]


def _edges(profile: ComplexityProfile) -> list[Hashable]:
    nodes = _nodes(profile)
    return [(nodes[e.producer], nodes[e.consumer], e.parameter) for e in profile.edges]


def _unmatched(a: list[Hashable], b: list[Hashable]) -> float:
    shared = sum((Counter(a) & Counter(b)).values())
    return 1 - shared / max(len(a), len(b)) if a or b else 0.0
