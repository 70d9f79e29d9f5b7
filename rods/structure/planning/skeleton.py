"""A task without its functions and values: what a plan must share with its seed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from rods.structure.planning.effects import HardEdges
from rods.types import ComplexityProfile, SourceKind


class Label(NamedTuple):
    """Where one parameter's value comes from."""

    kind: SourceKind
    producers: tuple[int, ...] = ()  # calls whose results it takes


Labels = tuple[Label, ...]  # of one call, in order


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Turns, labels of every call and state dependence; calls are numbered over the task."""

    calls_per_turn: tuple[int, ...]
    labels: tuple[Labels, ...]
    hard: HardEdges
    depth: int
    idle: frozenset[int] = frozenset()  # turns that show nothing new; no others may

    @property
    def calls(self) -> int:
        """Number of calls."""
        return len(self.labels)

    @property
    def data(self) -> frozenset[tuple[int, int]]:
        """(producer, consumer) pairs."""
        return frozenset(
            (producer, consumer)
            for consumer, labels in enumerate(self.labels)
            for label in labels
            for producer in label.producers
        )

    def kin(self, call: int) -> frozenset[int]:
        """Earlier calls that this one does not need, but a later one needs along with it."""
        dependants = {k for j, k in self.hard if j == call}
        return frozenset(
            i for i, k in self.hard if k in dependants and i < call and (i, call) not in self.hard
        )

    def difference(self, other: Skeleton, strictness: str) -> str | None:
        """The first thing that differs; None: nothing that ``strictness`` asks for."""
        if self.calls_per_turn != other.calls_per_turn:
            return "turns"
        if strictness == "loose":
            return None if self.depth == other.depth else "depth"
        if self.data != other.data:
            return "data_edges"
        if strictness == "exact" and self.labels != other.labels:
            return "sources"
        if self.hard - other.hard:
            return "state_edge_missing"
        return "state_edge_extra" if other.hard - self.hard else None


def skeleton(
    profile: ComplexityProfile, hard: HardEdges, idle: frozenset[int] = frozenset()
) -> Skeleton:
    """Of a profile. What has no known source counts as said by the user: a plan must say it."""
    producers: dict[tuple[int, str], list[int]] = defaultdict(list)
    for edge in profile.edges:
        producers[edge.consumer, edge.parameter].append(edge.producer)
    labels = tuple(
        tuple(
            sorted(
                Label(
                    SourceKind.USER if kind is SourceKind.UNKNOWN else kind,
                    tuple(sorted(producers[call, parameter])),
                )
                for parameter, kind in sources.items()
            )
        )
        for call, sources in enumerate(profile.sources)
    )
    return Skeleton(profile.calls_per_turn, labels, hard, profile.depth, idle)
