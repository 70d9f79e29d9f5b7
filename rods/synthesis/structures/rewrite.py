"""III. Rewrite: all user turns in one call around one narrative, or sentences from the phrases.

Values are placeholders until all is written, so a model never copies one. The words are checked by
rules and by the labels of the finished task; a model gets the remarks and tries again. Where the
plan wants a missing parameter, the model leaves it out and supplies it in the same call.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from rods.interfaces import ComponentConfig, Environment
from rods.structure.proposal import Proposal
from rods.synthesis.contracts import Draft, Execution, RewriteStage, rejection
from rods.synthesis.reasons import Reason
from rods.synthesis.structures.assistant import Assistant, WritingTask, Written
from rods.synthesis.structures.base_form import split_profile
from rods.synthesis.structures.execute import Hole, ProposalRunner, holes, usable, with_texts
from rods.synthesis.wording.brief import Brief, Tables, Unspeakable, brief_of
from rods.synthesis.wording.checks import WordingCheck
from rods.synthesis.wording.composer import Composer
from rods.synthesis.wording.gaps import (
    Gap,
    actions_with_gap,
    gap_of,
    label_of,
    trace_with_gap,
    with_gap,
)
from rods.synthesis.wording.spoken import fill
from rods.types import Rejection, SourceKind, Stage, Task, ToolCall, Turn

_COMPOSED = 6  # wordings drawn without a model before a plan is given up
_UNKNOWN = {
    SourceKind.RESULT: "only an earlier answer gives it",
    SourceKind.STATE: "the assistant finds it in the world",
    SourceKind.CONSTANT: "the tool's usual value; do not mention it",
    SourceKind.DERIVED: "say it only in plain words",
}


class WritingConfig(ComponentConfig):
    """How texts are written by a model."""

    tries: int = Field(2, ge=1, description="Calls for one conversation, the remarks included.")
    fall_back: bool = Field(
        True, description="Take the sentences without a model where the model's fail the rules."
    )


class ProposalWriter(RewriteStage):
    """Words executed proposals."""

    def __init__(
        self,
        config: WritingConfig,
        environment: Environment,
        *,
        runner: ProposalRunner,
        check: WordingCheck,
        tables: Tables,
        assistant: Assistant,
        coherent: bool = True,
        feedback: bool = True,
    ) -> None:
        self._config, self._runner, self._check = config, runner, check
        self._tables, self._assistant = tables, assistant
        self._coherent, self._feedback = coherent, feedback
        self._terse = environment.terse_users
        self._composer = Composer(environment.tools(), environment.phrase, terse=self._terse)

    def rewrite(self, execution: Execution, rng: random.Random) -> Draft | Rejection:
        """The whole task in words that the rules accept."""
        return self._worded(execution, rng, remarks=())

    def refine(self, draft: Draft, remarks: str, rng: random.Random) -> Draft | Rejection | None:
        """Written once more by the model that wrote it; None without one."""
        if not self._by_model:
            return None
        again = self._worded(draft.execution, rng, remarks=[remarks])
        return replace(again, refined=draft.refined + 1) if isinstance(again, Draft) else again

    @property
    def _by_model(self) -> bool:
        return self._assistant.helps(Stage.REWRITE)

    def _worded(
        self, execution: Execution, rng: random.Random, remarks: Sequence[str]
    ) -> Draft | Rejection:
        try:
            brief = self.brief(execution)
        except Unspeakable as error:
            return _reject(execution, Reason.QUERY_GEN_FAILED, f"no plain form for {error}")
        made: Draft | Rejection | None = None
        if self._by_model and self._coherent:
            made = self._written(execution, brief, rng, remarks)
        elif self._by_model:
            made = self._one_by_one(execution, brief, rng)
        if isinstance(made, Draft):
            return made
        if made is None or (self._config.fall_back and not remarks):
            composed = self._composed(execution, brief, rng)
            return composed if isinstance(composed, Draft) or made is None else made
        return made

    def brief(self, execution: Execution) -> Brief:
        """What has to be said; Unspeakable where it cannot be."""
        proposal = execution.plan.proposal
        assert proposal is not None
        return brief_of(proposal, execution.trace, self._tables, terse=self._terse)

    # ------------------------------------------------------------------ without a model
    def _composed(
        self, execution: Execution, brief: Brief, rng: random.Random
    ) -> Draft | Rejection:
        problems: list[str] = []
        for _ in range(_COMPOSED):
            try:
                templates = self._composer.compose(brief, rng)
            except Unspeakable as error:
                return _reject(execution, Reason.QUERY_GEN_FAILED, f"nothing tells {error}")
            draft = _draft(execution, brief, templates)
            problems = self._problems(brief, templates, draft)
            if not problems:
                return draft
        return _reject(execution, Reason.QUERY_VERIFY_FAILED, " ".join(problems))

    def _problems(self, brief: Brief, templates: Sequence[str], draft: Draft) -> list[str]:
        trace = draft.claimed or draft.execution.trace
        return self._check.problems(brief, templates) or self._check.sources(
            draft.task, trace, draft.expected
        )

    # ------------------------------------------------------------------ with a model
    def _written(
        self, execution: Execution, brief: Brief, rng: random.Random, remarks: Sequence[str]
    ) -> Draft | Rejection:
        """Up to ``tries`` conversations, each but the first with remarks on the last."""
        failure = _reject(execution, Reason.NO_PATTERN, "the answer could not be read")
        gap = self._gap(execution, brief)
        for _ in range(1 if remarks else self._config.tries):
            key = f"{execution.plan.blueprint.task.id}/{rng.getrandbits(32)}"
            written = self._assistant.write(key, self._task(execution, brief, gap, remarks))
            if written is None:
                remarks = ["The answer had another form than asked for."]
                continue
            made = self._accepted(execution, written, gap)
            if isinstance(made, Draft):
                return made
            failure = made
            remarks = [made.detail] if self._feedback else ()
        return failure

    def _gap(self, execution: Execution, brief: Brief) -> Gap | None:
        """What the words leave out, where the plan and the augment stage's model want that."""
        plan = execution.plan
        if plan.edit != "miss_param" or not self._assistant.helps(Stage.AUGMENT):
            return None
        return gap_of(brief, execution.trace, plan.like)

    def _one_by_one(
        self, execution: Execution, brief: Brief, rng: random.Random
    ) -> Draft | Rejection:
        """Each message by a call of its own, for small models and the paper's ablation."""
        messages = []
        for turn in range(brief.turns):
            key = f"{execution.plan.blueprint.task.id}/{rng.getrandbits(32)}"
            messages.append(self._one(key, brief, turn))
        return self._accepted(execution, Written(tuple(messages)))

    def _one(self, key: str, brief: Brief, turn: int) -> str:
        """The first of ``tries`` messages that holds its placeholders; the last one if none."""
        request = "; then ".join(self._composer.actions(brief, turn))
        message = ""
        for number in range(self._config.tries if request else 0):
            message = self._assistant.write_one(f"{key}/{number}", request) or ""
            if all(f"{{{value.label}}}" in message for value in brief.due(turn)):
                break
        return message

    def _task(
        self, execution: Execution, brief: Brief, gap: Gap | None, remarks: Sequence[str]
    ) -> WritingTask:
        actions = [self._composer.actions(brief, turn) for turn in range(brief.turns)]
        if gap is not None:
            actions = actions_with_gap(actions, gap, label_of(brief, gap))
            brief = with_gap(brief, gap)
        required = [[f"{{{v.label}}}" for v in brief.due(turn)] for turn in range(brief.turns)]
        values = {
            f"{{{v.label}}}": _meaning(v.about, v.spelling, v.hole) for v in brief.values.values()
        }
        texts = {
            f"{{{v.label}}}": f"{v.about}, such as {v.spelling!r}"
            for v in brief.values.values()
            if v.hole
        }
        unknown = [one for one in brief.silent if one.kind is not SourceKind.USER]
        forbidden = {f"{one.literal!r}: {_UNKNOWN.get(one.kind, '')}": None for one in unknown}
        return WritingTask(
            narrative=execution.plan.narrative,
            messages=actions,
            required=required,
            values=values,
            texts=texts,
            forbidden=list(forbidden),
            remarks=remarks,
        )

    def _accepted(
        self, execution: Execution, written: Written, gap: Gap | None = None
    ) -> Draft | Rejection:
        """The draft with the written free texts executed; a rejection with the remarks."""
        execution, brief = self._with_texts(execution, written.texts)
        if gap is not None:
            brief = with_gap(brief, gap)
        if not any(message.strip() for message in written.messages):
            return _reject(execution, Reason.NO_PROMPTS, "No message came.")
        if len(written.messages) != brief.turns:
            detail = f"There must be exactly {brief.turns} messages."
            return _reject(execution, Reason.CONVERSATION_CONSTRUCT_FAILED, detail)
        draft = _draft(execution, brief, written.messages, gap)
        problems = self._problems(brief, written.messages, draft)
        if not problems:
            return draft
        lacks = any("must contain" in problem for problem in problems)
        reason = Reason.QUERY_VERIFY_NO_TAG if lacks else Reason.QUERY_VERIFY_FAILED
        return _reject(execution, reason, " ".join(problems))

    def _with_texts(
        self, execution: Execution, texts: Mapping[str, str]
    ) -> tuple[Execution, Brief]:
        """The execution with new free texts; as it was where they break it."""
        brief = self.brief(execution)
        proposal = execution.plan.proposal
        assert proposal is not None
        wanted: dict[Hole, str] = {}
        for hole in holes(proposal):
            index, parameter = hole
            old = execution.trace.calls[index].arguments[parameter]
            label = next(
                (v.label for v in brief.values.values() if v.hole and v.literal == old), ""
            )
            text = texts.get(f"{{{label}}}", texts.get(label, ""))
            if usable(text):
                wanted[hole] = text.strip()
        if not wanted:
            return execution, brief
        plan = replace(execution.plan, proposal=with_texts(proposal, wanted))
        again = self._runner.run(plan, {})
        if isinstance(again, Rejection):
            return execution, brief
        return again, self.brief(again)


def _draft(
    execution: Execution, brief: Brief, templates: Sequence[str], gap: Gap | None = None
) -> Draft:
    proposal = execution.plan.proposal
    assert proposal is not None
    texts = [fill(template, brief.spellings) for template in templates]
    substitutions = {f"{{{label}}}": text for label, text in brief.spellings.items()}
    if gap is None:
        task = _task_of(execution, proposal, texts, execution.reference)
        trace, expected = execution.trace, proposal.profile
        return Draft(task, execution, expected, claimed=trace, substitutions=substitutions)
    calls = execution.reference
    task = _task_of(execution, proposal, texts, (*calls[: gap.turn], (), *calls[gap.turn :]))
    return Draft(
        task=task.model_copy(update={"kind": "miss_param"}),
        execution=execution,
        expected=split_profile(proposal.profile, gap.turn, "miss_param"),
        edit=gap.edit,
        claimed=trace_with_gap(execution.trace, gap),
        substitutions=substitutions,
    )


def _task_of(
    execution: Execution,
    proposal: Proposal,
    texts: Sequence[str],
    reference: Sequence[tuple[ToolCall, ...]],
) -> Task:
    seed = execution.plan.blueprint.task
    turns = tuple(
        Turn(user=text, reference=calls) for text, calls in zip(texts, reference, strict=True)
    )
    return Task(
        id=seed.id,
        environment=seed.environment,
        kind="base",
        split="train",
        tools=proposal.tools,
        turns=turns,
        initial_state=execution.initial_state,
        origin="synthetic",
        parent_id=seed.id,
        generation=seed.generation + 1,
    )


def _meaning(about: str, spelling: str, hole: bool) -> str:
    return f"{about} (write this text yourself)" if hole else f"{about}: {spelling}"


def _reject(execution: Execution, reason: Reason, detail: str) -> Rejection:
    return rejection(Stage.REWRITE, reason, detail, execution.plan.blueprint.task.id)
