"""What a rollout has reached: upstream's verdict, and the share of the goals of every turn.

Goals are the records that the reference changes (one that is changed beside it is a goal missed),
assertions that do not hold when the task opens, what has to be said, and, where upstream demands
them, the actions themselves. Upstream rewards 1 exactly if all of them are reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rods.types import Task, ToolCall, Trajectory, TurnVerdict
from rods_tau2.domains import Domain
from rods_tau2.world import Changes, World


@dataclass(slots=True)
class Acts:
    """What an agent did in one turn: calls that reached the world, and its words."""

    calls: Sequence[ToolCall]
    texts: Sequence[str]
    acted: bool  # at least one call was tried
    refused: Sequence[ToolCall] = ()  # calls that were tried and did not reach it


@dataclass(frozen=True, slots=True)
class Checks:
    """What upstream judges a task by."""

    basis: frozenset[str]
    assertions: Sequence[Mapping[str, Any]]
    communicate: Sequence[str]
    actions: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, task: Task) -> Checks | None:
        """The task's checks; None if its reference is not the one that they were written for."""
        checks: Any = task.initial_state["checks"]
        if checks["calls"] != [call.name for turn in task.turns for call in turn.reference]:
            return None
        keys = ("assertions", "communicate", "actions")
        return cls(basis=frozenset(checks["basis"]), **{key: checks[key] for key in keys})


def acts_of(trajectory: Trajectory) -> list[Acts]:
    """The acts of every turn; refused calls never reached the world."""
    return [
        Acts(
            calls=[call for step in turn for call in step.executed],
            texts=[step.message.content for step in turn if step.message.content.strip()],
            acted=any(step.message.calls for step in turn),
        )
        for turn in trajectory.turns
    ]


def acts_of_dialogue(trajectory: Trajectory) -> Acts:
    """All that was done in a conversation with a user that is a model, by either side, in order."""
    turns = zip_longest(trajectory.user, trajectory.turns, fillvalue=())
    steps = [step for theirs, ours in turns for step in (*theirs, *ours)]
    said = [step.message.content for turn in trajectory.turns for step in turn]
    calls = [call for step in steps for call in step.executed]
    return Acts(
        calls=calls,
        texts=[text for text in said if text.strip()],
        acted=any(step.message.calls for step in steps),
        refused=[c for step in steps for c in step.message.calls if c not in step.executed],
    )


SILENT = Acts(calls=(), texts=(), acted=False)


def passes_in_silence(domain: Domain, task: Task) -> bool:
    """Upstream rewards an agent that does nothing and says nothing."""
    judge = Judge(domain, task.model_copy(update={"flags": (*task.flags, "idle")}))
    return all(v.ok for v in judge.verdicts([SILENT] * len(task.turns)) if v.judged)


class Judge:
    """Judges one rollout of one task, turn by turn, beside the reference."""

    def __init__(self, domain: Domain, task: Task) -> None:
        self._task, self._checks = task, Checks.of(task)
        self._gold = World(domain, task.initial_state)
        self._ours = World(domain, task.initial_state)
        judged = [i for i, turn in enumerate(task.turns) if turn.reference]
        self._last = judged[-1] if judged else len(task.turns) - 1
        self._tried: list[ToolCall] = []
        self._said: list[str] = []
        self._seen: Counter[str] = Counter()
        self._open = self._open_assertions()

    def _open_assertions(self) -> list[int]:
        """Those that do not hold yet when the task begins."""
        return [i for i, a in enumerate(self._assertions) if not self._gold.holds(a)]

    @property
    def _assertions(self) -> Sequence[Mapping[str, Any]]:
        known = self._checks is not None and "ENV_ASSERTION" in self._checks.basis
        return self._checks.assertions if known and self._checks else ()

    def verdicts(self, acts: Sequence[Acts], *, completed: bool = True) -> tuple[TurnVerdict, ...]:
        """One for every turn; not ``completed``: the rollout was cut in its last turn."""
        return tuple(
            self._turn(
                index,
                acts[index] if index < len(acts) else None,
                cut=not completed and index == len(acts) - 1,
            )
            for index in range(len(self._task.turns))
        )

    def _turn(self, index: int, acts: Acts | None, *, cut: bool) -> TurnVerdict:
        reference = self._task.turns[index].reference
        before = self._gold.changes()
        wanted = Counter(self._gold.call(c.name, c.arguments)[0] for c in reference)
        after = self._gold.changes()
        if acts is not None:
            self._follow(acts)
        now = self._ours.changes()
        last = index == self._last
        state = self._state_goals(before, after, now, last=last)
        words = list(self._word_goals(last=last))
        if not ({*_moved(before, after)} or words or state) and "idle" not in self._task.flags:
            words = self._result_goals(wanted)
        elif self._checks is None:
            words += self._result_goals(wanted)
        words += [False] if cut else []
        goals = [*state, *words]
        there = acts is not None
        judged = bool(reference) or not self._task.reference_calls
        return TurnVerdict(
            state_ok=there and all(state),
            response_ok=there and all(words),
            judged=judged,
            acted=(judged and self._checks is not None) or (acts is not None and acts.acted),
            share=(sum(goals) / len(goals) if goals else 1.0) if there else 0.0,
        )

    def _follow(self, acts: Acts) -> None:
        self._tried += [*acts.calls, *acts.refused]
        self._said += [text.lower().replace(",", "") for text in acts.texts]
        self._seen.update(self._ours.call(c.name, c.arguments)[0] for c in acts.calls)

    # ------------------------------------------------------------------ goals: reached or not
    def _state_goals(
        self, before: Changes, after: Changes, now: Changes, *, last: bool
    ) -> list[bool]:
        """Records that had to change, those that changed beside them, and assertions."""
        goals: list[bool] = []
        if self._checks is None or not last or "DB" in self._checks.basis:
            moved = {**_moved(before, after), **_moved(before, now)}
            goals += [_record(after, key) == _record(now, key) for key in moved]
        if last:
            held = [self._ours.holds(assertion) for assertion in self._assertions]
            goals += [ok for i, ok in enumerate(held) if i in self._open or not ok]
        return goals

    def _word_goals(self, *, last: bool) -> Iterator[bool]:
        """What has to be said, and actions that have to be among those tried."""
        if not last or self._checks is None:
            return
        if "COMMUNICATE" in self._checks.basis:
            for text in self._checks.communicate:
                yield any(text.lower() in said for said in self._said)
        if "ACTION" in self._checks.basis:
            for action in self._checks.actions:
                yield any(_matches(action, call) for call in self._tried)

    def _result_goals(self, wanted: Counter[str]) -> list[bool]:
        """The reference's results are among those seen."""
        return [self._seen[text] >= count for text, count in wanted.items()]


_ABSENT: Any = object()


def _record(changes: Changes, key: tuple[str, str]) -> Any:
    return changes.get(key, _ABSENT)


def _moved(before: Changes, after: Changes) -> dict[tuple[str, str], None]:
    """Keys of the records that differ."""
    return {k: None for k in {**before, **after} if _record(before, k) != _record(after, k)}


def _matches(action: Mapping[str, Any], call: ToolCall) -> bool:
    """Upstream's comparison: by default the arguments that the call gives."""
    if action["name"] != call.name:
        return False
    compared = call.arguments.keys() if action["compare"] is None else action["compare"]
    given = {k: v for k, v in call.arguments.items() if k in compared}
    return given == {k: v for k, v in action["arguments"].items() if k in compared}
