"""IV. Critique: the gates for every draft, isomorphism to the seed, then a judge or several.

The judge sees what the calls changed before it sees the words, so that a fluent text does not
carry a wrong reference. At most one refinement follows a fault in the words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from pydantic import Field

from rods.interfaces import ComponentConfig, Environment
from rods.structure.leaves import Path, walk
from rods.structure.trace import Trace, replay
from rods.synthesis.contracts import CritiqueStage, Draft, rejection
from rods.synthesis.kept import keep
from rods.synthesis.reasons import Reason
from rods.synthesis.structures.assistant import Assistant, Judgement, JudgingTask
from rods.synthesis.structures.base_form import structural_distance
from rods.types import Rejection, Stage, Task

_SHOWN = 12  # changes of one turn that a judge sees
_LENGTH = 160  # characters of one change or result
_MESSAGE = 1600  # characters of one message that are shown whole


class JudgingConfig(ComponentConfig):
    """The judge after the rules."""

    judges: int = Field(1, ge=1, description="Verdicts asked for; the majority decides.")


class ProposalCritic(CritiqueStage):
    """Rules for all drafts; for new structures isomorphism and the judge, too."""

    def __init__(
        self,
        config: JudgingConfig,
        environment: Environment,
        *,
        rules: CritiqueStage,
        assistant: Assistant,
        exact: bool = True,
    ) -> None:
        """``exact``: a new structure must be the seed's but for names."""
        self._config, self._environment = config, environment
        self._rules, self._assistant, self._exact = rules, assistant, exact

    def critique(self, draft: Draft) -> Rejection | None:
        """The first fault that code can find."""
        if found := self._rules.critique(draft):
            return found
        plan = draft.execution.plan
        if plan.proposal is None:
            return None
        base = plan.proposal.profile if draft.edit else draft.expected
        apart = structural_distance(base, plan.blueprint.profile)
        if self._exact and apart:
            detail = f"distance {apart:.3f} to the seed's structure"
            return self._reject(draft, Reason.PROFILE_MISMATCH, detail)
        return None

    def judge(self, draft: Draft) -> Rejection | None:
        """The judges' verdict on a new structure, if there are judges."""
        if draft.execution.plan.proposal is None or not self._assistant.helps(Stage.CRITIQUE):
            return None
        return self._judged(draft)

    def _judged(self, draft: Draft) -> Rejection | None:
        key = f"{draft.task.parent_id}/{draft.task.turns[0].user}"
        task = judging_task(self._environment, draft)
        verdicts = self._assistant.judge(key, task, self._config.judges)
        if not verdicts:
            return self._reject(draft, Reason.NO_PATTERN, "no verdict could be read")
        passed = sum(verdict.passed for verdict in verdicts)
        if 2 * passed > len(verdicts):
            keep(Stage.CRITIQUE)
            return None
        against = [verdict for verdict in verdicts if not verdict.passed]
        truth = sum(verdict.fault == "ground_truth" for verdict in against)
        wrong = 2 * truth >= len(against)
        reason = Reason.DECOMPOSE_FAILED if wrong else Reason.QUERY_VERIFY_FAILED
        return self._reject(draft, reason, _remarks(against))

    @staticmethod
    def _reject(draft: Draft, reason: Reason, detail: str) -> Rejection:
        return rejection(Stage.CRITIQUE, reason, detail, draft.execution.plan.blueprint.task.id)


def judging_task(environment: Environment, draft: Draft) -> JudgingTask:
    """What a judge is shown: the changes and results of every turn, the calls, then the words."""
    turns = range(len(draft.task.turns))
    trace = replay(environment, draft.task, states=range(-1, len(turns)))
    return JudgingTask(
        changes=["\n".join(_effects(trace, turn)) for turn in turns],
        calls=[_calls(draft.task, turn) for turn in turns],
        messages=[_excerpt(turn.user) for turn in draft.task.turns],
        narrative=draft.execution.plan.narrative,
    )


def _calls(task: Task, index: int) -> str:
    """The calls of a turn, or what it has to wait for."""
    turn = task.turns[index]
    if turn.reference:
        return "; ".join(f"{c.name}({_short(json.dumps(c.arguments))})" for c in turn.reference)
    later = task.turns[index + 1] if index + 1 < len(task.turns) else turn
    if later.reveals:
        return f"nothing yet: {', '.join(later.reveals)} is handed over with the next message"
    return "nothing yet: a value is left out on purpose; the next message tells it"


def _excerpt(message: str) -> str:
    """The message without the middle of a long background."""
    if len(message) <= _MESSAGE:
        return message
    return f"{message[: _MESSAGE // 4]} [...] {message[-_MESSAGE // 2 :]}"


def _effects(trace: Trace, turn: int) -> Iterator[str]:
    before = dict(_flat(trace.states[turn - 1]))
    after = dict(_flat(trace.states[turn]))
    paths = [p for p in {**before, **after} if before.get(p) != after.get(p)]
    for path in paths[:_SHOWN]:
        old, new = before.get(path, "nothing"), after.get(path, "nothing")
        yield _short(f"{'.'.join(map(str, path))}: {old!r} -> {new!r}")
    for call, result, of in zip(trace.calls, trace.results, trace.turn_of, strict=True):
        if of == turn:
            yield f"{call.name} answers {_short(result.content)}"


def _flat(state: object) -> Iterator[tuple[Path, object]]:
    yield from walk(state)


def _short(text: str) -> str:
    return text if len(text) <= _LENGTH else text[: _LENGTH - 3] + "..."


def _remarks(verdicts: Sequence[Judgement]) -> str:
    failed = Counter(name for v in verdicts for name, holds in v.criteria.items() if not holds)
    said = " ".join(verdict.remarks for verdict in verdicts if verdict.remarks)
    return f"{', '.join(failed)}: {said}" if failed else said
