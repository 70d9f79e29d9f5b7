"""Which arguments of a reference neither a request nor a result tells: perhaps guesses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rods.structure.constants import constants
from rods.structure.sources import Labeller, holds
from rods.structure.trace import Trace
from rods.testing.findings import Subject
from rods.types import SourceKind, Task, ToolResult

_SHOWN = 3
_UNTOLD = frozenset({SourceKind.STATE, SourceKind.UNKNOWN})  # a policy does not see the state


class Untold:
    """Counts, over tasks whose reference has run, the arguments that nothing told."""

    def __init__(self, subject: Subject) -> None:
        self._environment = subject.environment
        self._labeller = Labeller(constants(subject.specs, subject.tasks["train"]))
        self._found: Counter[str] = Counter()
        self._first = ""

    def add(self, task: Task, results: Sequence[ToolResult]) -> None:
        """Look where each argument of the task comes from; ``results`` are those of all calls.

        Tasks with a simulated user are passed over: what it says later stands in no turn.
        """
        if self._environment.user(task) is not None:
            return
        turn_of = tuple(i for i, turn in enumerate(task.turns) for _ in turn.reference)
        calls = tuple(call for turn in task.turns for call in turn.reference)
        trace = Trace(turn_of, calls, tuple(results), {}, {})
        for source in self._labeller.label(task, trace):
            shown = any(holds(result.content, source.value) for result in results[: source.call])
            if source.kind in _UNTOLD and not shown:  # prose holds what no path leads to
                name = f"{calls[source.call].name}.{source.parameter}"
                self._found[name] += 1
                self._first = self._first or f"{source.value!r:.40} in {task.id}"

    def __str__(self) -> str:
        """Empty where everything is told."""
        if not self._found:
            return ""
        names = ", ".join(name for name, _ in self._found.most_common(_SHOWN))
        names += ", ..." if len(self._found) > _SHOWN else ""
        return (
            f"; {self._found.total()} arguments stand in no request and no earlier result: a "
            f"policy looks them up, knows or guesses them ({names}; {self._first})"
        )
