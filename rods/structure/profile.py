"""The complexity profile of a task: what must be equal for two tasks to train the same skill."""

from __future__ import annotations

from collections.abc import Sequence

from rods.structure.sources import Source, by_parameter
from rods.structure.trace import Trace
from rods.types import ComplexityProfile, DataEdge, SourceKind, Task


def profile(task: Task, trace: Trace, sources: Sequence[Source]) -> ComplexityProfile:
    """Phi of an executed and labelled reference (arXiv:2606.19047; the extractor is our own)."""
    edges = data_edges(sources)
    return ComplexityProfile.model_construct(
        kind=task.kind,
        calls_per_turn=tuple(len(turn.reference) for turn in task.turns),
        tools=tuple(call.name for call in trace.calls),
        edges=edges,
        sources=by_parameter(sources, len(trace.calls)),
        depth=depth(edges),
    )


def data_edges(sources: Sequence[Source]) -> tuple[DataEdge, ...]:
    """One edge for each parameter that takes a value from an earlier result, without repeats."""
    found = {
        (s.producer, s.call, s.parameter): None
        for s in sources
        if s.kind is SourceKind.RESULT and s.producer is not None
    }
    return tuple(
        DataEdge.model_construct(producer=producer, consumer=consumer, parameter=parameter)
        for producer, consumer, parameter in sorted(found)
    )


def depth(edges: Sequence[DataEdge]) -> int:
    """Length of the longest chain of data edges, in edges."""
    longest: dict[int, int] = {}
    for edge in sorted(edges, key=lambda e: e.consumer):
        reached = longest.get(edge.producer, 0) + 1
        longest[edge.consumer] = max(longest.get(edge.consumer, 0), reached)
    return max(longest.values(), default=0)
