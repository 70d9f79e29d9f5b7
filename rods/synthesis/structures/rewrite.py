"""III. Rewrite: all user turns in one call around one narrative, or sentences from the phrases.

Values are placeholders until all is written, so a model never copies one. The words are checked by
rules and by the labels of the finished task; a model gets the remarks and tries again. Where the
plan wants a missing parameter, the model leaves it out and supplies it in the same call.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from rods.interfaces import ComponentConfig, Environment
from rods.synthesis.contracts import Draft, Execution, RewriteStage, rejection
from rods.synthesis.kept import keep
from rods.synthesis.reasons import Reason
from rods.synthesis.structures.assistant import Assistant, WritingTask, Written
from rods.synthesis.structures.drafting import draft_of
from rods.synthesis.structures.execute import Hole, ProposalRunner, holes, usable, with_texts
from rods.synthesis.wording.brief import Brief, Tables, Unspeakable, brief_of
from rods.synthesis.wording.checks import WordingCheck
from rods.synthesis.wording.composer import Composer
from rods.synthesis.wording.gaps import (
    Gap,
    actions_with_gap,
    gap_of,
    label_of,
    with_gap,
)
from rods.synthesis.wording.sense import Fault, Sense
from rods.types import Rejection, SourceKind, Stage

_COMPOSED = 6  # wordings drawn without a model before a plan is given up
_QUOTED = re.compile(r'"[^"]+"', re.DOTALL)
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
        specs, phrase = environment.tools(), environment.phrase
        self._composer = Composer(specs, phrase, terse=self._terse)
        self._sense = Sense(specs, phrase, lambda: users_words(environment))

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
        made = self._by_its_model(execution, brief, rng, remarks) if self._by_model else None
        if isinstance(made, Draft):
            return made
        if made is not None and (remarks or not self._config.fall_back):
            return made
        composed = self._composed(execution, brief, rng)
        if made is None:
            return composed
        return replace(composed, fallen=(made,)) if isinstance(composed, Draft) else made

    def _by_its_model(
        self, execution: Execution, brief: Brief, rng: random.Random, remarks: Sequence[str]
    ) -> Draft | Rejection:
        if self._coherent:
            return self._written(execution, brief, rng, remarks)
        return self._one_by_one(execution, brief, rng)

    def brief(self, execution: Execution) -> Brief:
        """What has to be said; Unspeakable where it cannot be."""
        proposal = execution.plan.proposal
        assert proposal is not None
        return brief_of(proposal, execution.trace, self._tables, terse=self._terse)

    # ------------------------------------------------------------------ without a model
    def _composed(
        self, execution: Execution, brief: Brief, rng: random.Random
    ) -> Draft | Rejection:
        templates = self._templates(execution, brief, rng)
        if isinstance(templates, Rejection):
            return templates
        return draft_of(execution, brief, templates)

    def _templates(
        self, execution: Execution, brief: Brief, rng: random.Random
    ) -> tuple[str, ...] | Rejection:
        """One text a turn from the phrases, which the rules accept."""
        problems: list[str] = []
        for _ in range(_COMPOSED):
            try:
                templates = self._composer.compose(brief, rng)
            except Unspeakable as error:
                return _reject(execution, Reason.QUERY_GEN_FAILED, f"nothing tells {error}")
            draft = draft_of(execution, brief, templates)
            problems = self._problems(brief, templates, draft)
            if not problems:
                return templates
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
        """Each message by a call of its own, for small models and the paper's ablation.

        A message that breaks a rule gives way to the phrases' one; the others stay.
        """
        templates = self._templates(execution, brief, rng)
        if isinstance(templates, Rejection):
            return templates
        fallen: list[Rejection] = []
        for turn in range(brief.turns):
            key = f"{execution.plan.blueprint.task.id}/{rng.getrandbits(32)}"
            made = self._one(key, execution, brief, turn, templates)
            if isinstance(made, Rejection):
                fallen.append(made)
            else:
                templates = made
        if fallen and not self._config.fall_back:
            return fallen[0]
        return replace(draft_of(execution, brief, templates), fallen=tuple(fallen))

    def _one(
        self, key: str, execution: Execution, brief: Brief, turn: int, templates: tuple[str, ...]
    ) -> tuple[str, ...] | Rejection:
        """The templates with the first of ``tries`` messages that keeps the rules in its turn."""
        request = "; then ".join(self._composer.actions(brief, turn))
        failure = _reject(execution, Reason.NO_PATTERN, "the answer could not be read")
        for number in range(self._config.tries if request else 0):
            message = self._assistant.write_one(f"{key}/{number}", request)
            if message is None:
                continue
            changed = (*templates[:turn], _unquoted(message), *templates[turn + 1 :])
            if found := self._fault(execution, brief, changed, [turn]):
                failure = found
                continue
            keep(Stage.REWRITE)
            return changed
        return failure if request else templates

    def _fault(
        self,
        execution: Execution,
        brief: Brief,
        messages: Sequence[str],
        turns: Sequence[int],
        gap: Gap | None = None,
    ) -> Rejection | None:
        """The first rule that a model's messages of these turns break, with all the remarks."""
        draft = draft_of(execution, brief, messages, gap)
        problems = self._problems(brief, messages, draft)
        faults = [] if problems else list(self._senseless(brief, messages, turns, gap))
        if faults:
            return _reject(execution, faults[0].reason, " ".join(f.remark for f in faults))
        if not problems:
            return None
        lacks = any("must contain" in problem for problem in problems)
        reason = Reason.QUERY_VERIFY_NO_TAG if lacks else Reason.QUERY_VERIFY_FAILED
        return _reject(execution, reason, " ".join(problems))

    def _senseless(
        self, brief: Brief, messages: Sequence[str], turns: Sequence[int], gap: Gap | None
    ) -> Iterator[Fault]:
        """Faults of sense; a message that leaves a value out, or supplies it, speaks for both."""
        open_turns = () if gap is None else (gap.turn, gap.turn + 1)
        for turn in turns:
            solved = gap.turn + 1 if gap is not None and turn in open_turns else turn
            asked = " ".join(self._composer.actions(brief, solved))
            for fault in self._sense.faults(brief, turn, messages[turn], asked):
                judged = fault.reason is Reason.CALL_UNSAID and self._judged
                repeats = fault.reason is Reason.REPETITION
                if not judged and (repeats or turn not in open_turns):
                    yield fault

    @property
    def _judged(self) -> bool:
        """A judge reads the words and knows better which call they ask for."""
        return self._assistant.helps(Stage.CRITIQUE)

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
        found = self._fault(execution, brief, written.messages, range(brief.turns), gap)
        if found is not None:
            return found
        keep(Stage.REWRITE)
        return draft_of(execution, brief, written.messages, gap)

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


def users_words(environment: Environment) -> list[str]:
    """What the users of the train tasks say."""
    return [turn.user for task in environment.tasks("train") for turn in task.turns]


def _unquoted(message: str) -> str:
    """Without the quotation marks that a model puts around the whole of it."""
    text = message.strip()
    return text[1:-1].strip() if _QUOTED.fullmatch(text) else text


def _meaning(about: str, spelling: str, hole: bool) -> str:
    return f"{about} (write this text yourself)" if hole else f"{about}: {spelling}"


def _reject(execution: Execution, reason: Reason, detail: str) -> Rejection:
    return rejection(Stage.REWRITE, reason, detail, execution.plan.blueprint.task.id)
