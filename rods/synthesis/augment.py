"""V. Augment: harder kinds as edits of a verified base task; a model words what is left out.

The reference moves with the edit and the critique sees the result again, against the profile that
the edit implies. All kinds are off by default: the selector's quotas and every comparison by kind
take a variant to be of its seed's kind.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from rods.interfaces import ComponentConfig, Environment
from rods.structure.leaves import Scalar
from rods.structure.sources import Labeller, Source, holds
from rods.structure.trace import replay
from rods.synthesis.contracts import AugmentStage, Draft, rejection
from rods.synthesis.fresh import Dice
from rods.synthesis.kept import keep
from rods.synthesis.reasons import Reason
from rods.synthesis.structures.assistant import Assistant, NoAssistant
from rods.synthesis.structures.base_form import split_profile, structural_distance
from rods.synthesis.substitution import occurrences
from rods.synthesis.wording.blurring import blurred
from rods.synthesis.wording.checks import telling_names
from rods.synthesis.wording.phrases import plain
from rods.types import Kind, Rejection, SourceKind, Stage, Task, Turn

_HANDED_OVER = "You have more tools now. Please go on with what I asked for."
_BEFORE = "First some background, of which nothing needs to be done."
_AFTER = "Now to what I need."
_GROWN = 1.5  # results this many times as long make a context long by themselves


class AugmentConfig(ComponentConfig):
    """How often a variant of a base seed becomes another kind."""

    miss_func: float = Field(
        0.0, ge=0, le=1, description="Share in which a tool is withheld, and handed over later."
    )
    miss_param: float = Field(
        0.0, ge=0, le=1, description="Share in which a value is left out, and supplied later."
    )
    long_context: float = Field(
        0.0, ge=0, le=1, description="Share in which there is far more to read."
    )
    distractors: float = Field(
        0.0, ge=0, le=1, description="Share that offers tools which the reference does not need."
    )
    distractor_tools: int = Field(5, ge=1, description="How many more tools are offered.")
    noise: float = Field(
        0.0, ge=0, le=1, description="Share whose results carry fields or log lines of no use."
    )
    background_sentences: int = Field(
        60, ge=1, description="Sentences before a long task whose world cannot be made longer."
    )

    @model_validator(mode="after")
    def _at_most_one(self) -> Self:
        if sum(self.weights().values()) > 1:
            raise ValueError("miss_func + miss_param + long_context must be at most 1")
        return self

    def weights(self) -> dict[Kind, float]:
        """Kind -> its share."""
        return {
            "miss_func": self.miss_func,
            "miss_param": self.miss_param,
            "long_context": self.long_context,
        }


class _Blank(NamedTuple):
    """A value that a turn says and that the conversation tells nowhere before."""

    turn: int
    parameter: str
    spelling: str


class KindEditor(AugmentStage):
    """Edits base drafts."""

    def __init__(
        self,
        config: AugmentConfig,
        environment: Environment,
        labeller: Labeller | None = None,
        assistant: Assistant | None = None,
    ) -> None:
        """``labeller`` tells the sources of new structures, whose blueprint is the seed's."""
        self._config, self._environment, self._labeller = config, environment, labeller
        self._assistant = assistant or NoAssistant()

    def augment(self, draft: Draft, rng: random.Random) -> Draft | Rejection:
        """The draft as the kind that its plan names; a rejection where no turn admits it."""
        kind = draft.execution.plan.edit
        edits = list(self._edits(draft, kind, rng))
        if not edits:
            seed_id = draft.execution.plan.blueprint.task.id
            return rejection(Stage.AUGMENT, Reason.NOT_EDITABLE, str(kind), seed_id)
        like = draft.execution.plan.like
        if like is not None:  # the seed is of this kind already: as it is split, if possible
            apart = [structural_distance(edit.expected, like) for edit in edits]
            edits = [edit for edit, far in zip(edits, apart, strict=True) if far == min(apart)]
        chosen = rng.choice(edits)
        return self._reworded(draft, chosen, rng) if kind == "miss_param" else chosen

    def widen(self, draft: Draft, rng: random.Random) -> Draft:
        """With their shares, the draft with tools and output that its reference does not need."""
        return self._noisy(self._with_distractors(draft, rng), rng)

    def _noisy(self, draft: Draft, rng: random.Random) -> Draft:
        """Only what the policy is shown changes: worlds, references and scores know no noise."""
        if not self._config.noise or rng.random() >= self._config.noise:
            return draft
        edit = "+".join(filter(None, (draft.edit, "noise")))
        task = draft.task.model_copy(update={"noise": rng.getrandbits(31)})
        return replace(draft, task=task, edit=edit)

    def _with_distractors(self, draft: Draft, rng: random.Random) -> Draft:
        if not self._config.distractors or rng.random() >= self._config.distractors:
            return draft
        task = draft.task
        known = {*task.tools, *(name for turn in task.turns for name in turn.reveals)}
        left = [name for name in self._environment.tools() if name not in known]
        more = rng.sample(left, min(self._config.distractor_tools, len(left)))
        if not more:
            return draft
        edit = "+".join(filter(None, (draft.edit, f"distractors:{len(more)}")))
        wider = self._environment.equipped(task, more)
        return replace(draft, task=wider, edit=edit, claimed=None)

    def _sources(self, draft: Draft) -> Sequence[Source]:
        """Where the arguments of the draft come from."""
        plan = draft.execution.plan
        if plan.proposal is None or self._labeller is None:
            return plan.blueprint.sources
        return self._labeller.label(draft.task, draft.execution.trace)

    def _edits(self, draft: Draft, kind: Kind | None, rng: random.Random) -> Iterator[Draft]:
        if kind == "miss_func":
            yield from self._withheld(draft)
        elif kind == "miss_param":
            yield from self._left_out(draft)
        elif kind == "long_context":
            yield self._lengthened(draft, rng)

    # ------------------------------------------------------------------ missing function
    def _withheld(self, draft: Draft) -> Iterator[Draft]:
        """One edit for each tool that no earlier turn needs."""
        needed: set[str] = set()
        for index, turn in enumerate(draft.task.turns):
            names = dict.fromkeys(call.name for call in turn.reference)
            for name in names:
                if name not in needed and name in draft.task.tools:
                    yield self._without(draft, index, name)
            needed.update(names)

    def _without(self, draft: Draft, index: int, name: str) -> Draft:
        asked = draft.task.turns[index]
        later = Turn(
            user=self._hand_over.replace("{}", name),
            reference=asked.reference,
            reveals=(name,),
            answer=asked.answer,
        )
        tools = tuple(tool for tool in draft.task.tools if tool != name)
        task = draft.task.model_copy(update={"tools": tools})
        return _split(draft, task, index, asked.user, later, "miss_func", name)

    @cached_property
    def _hand_over(self) -> str:
        """What users of this environment say when they hand over a tool, ``{}`` for its name."""
        turns = (turn for task in self._environment.tasks("train") for turn in task.turns)
        said = Counter(t.user.replace(t.reveals[0], "{}") for t in turns if t.reveals)
        return said.most_common(1)[0][0] if said else _HANDED_OVER

    # ------------------------------------------------------------------ missing parameter
    def _left_out(self, draft: Draft) -> Iterator[Draft]:
        """One edit for each value that the conversation gives only once, in this very turn."""
        yield from (_cut(draft, blank) for blank in self._blanks(draft))

    def _blanks(self, draft: Draft) -> Iterator[_Blank]:
        trace = draft.execution.trace
        for source in self._sources(draft):
            if source.kind is not SourceKind.USER or source.path:
                continue
            index = trace.turn_of[source.call]
            value = trace.calls[source.call].arguments.get(source.parameter)
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                spelling = _said_once(draft, index, value)
                if spelling:
                    yield _Blank(index, source.parameter, spelling)

    def _reworded(self, draft: Draft, edited: Draft, rng: random.Random) -> Draft:
        """Both messages in a model's words; as the rules have cut them where those do not hold."""
        if draft.execution.plan.proposal is None or not self._assistant.helps(Stage.AUGMENT):
            return edited
        blank = next(blank for blank in self._blanks(draft) if _cut(draft, blank) == edited)
        key = f"{draft.task.parent_id}/{rng.getrandbits(32)}"
        turn = draft.task.turns[blank.turn]
        words = blurred(
            self._assistant, key, turn, blank.parameter, blank.spelling, self._telling_names
        )
        if words is None:
            return edited
        keep(Stage.AUGMENT)
        return _supplied(draft, blank, *words)

    @cached_property
    def _telling_names(self) -> frozenset[str]:
        return frozenset(telling_names(self._environment.tools().values()))

    # ------------------------------------------------------------------ long context
    def _lengthened(self, draft: Draft, rng: random.Random) -> Draft:
        """The world's own long form where it has one, else background before the first turn."""
        state = dict(draft.task.initial_state)
        if "long_context" in state:
            state["long_context"] = True
        task = draft.task.model_copy(update={"kind": "long_context", "initial_state": state})
        how = "world"
        if not self._grows(draft, task):
            how, first = "background", task.turns[0]
            user = f"{_BEFORE} {self._background(rng)} {_AFTER} {first.user}"
            turns = (first.model_copy(update={"user": user}), *task.turns[1:])
            task = task.model_copy(update={"turns": turns})
        expected = draft.expected.model_copy(update={"kind": "long_context"})
        return replace(
            draft, task=task, expected=expected, edit=f"long_context:{how}", claimed=None
        )

    def _grows(self, draft: Draft, task: Task) -> bool:
        before = sum(map(len, draft.execution.trace.contents))
        return sum(map(len, replay(self._environment, task).contents)) > _GROWN * before

    def _background(self, rng: random.Random) -> str:
        dice = Dice(rng)
        return " ".join(dice.sentence() for _ in range(self._config.background_sentences))


def _cut(draft: Draft, blank: _Blank) -> Draft:
    """The value is cut out of the sentence and told in a plain one."""
    noun, spelling = plain(blank.parameter), blank.spelling
    vague = "some" if spelling[0].isdigit() and _is_number(spelling) else f"a certain {noun}"
    quoted = re.compile(rf"(?:\b[Tt]he )?[$€£'\"`‘“]?{re.escape(spelling)}['\"`’”]?")
    user = quoted.sub(lambda _: vague, draft.task.turns[blank.turn].user, count=1)
    told = f"'{spelling}'" if " " in spelling and "'" not in spelling else spelling
    end = "" if told.rstrip("'").endswith(".") else "."
    return _supplied(draft, blank, user, f"The {noun} is {told}{end}")


def _supplied(draft: Draft, blank: _Blank, user: str, later: str) -> Draft:
    asked = draft.task.turns[blank.turn]
    turn = Turn(user=later, reference=asked.reference, answer=asked.answer)
    return _split(draft, draft.task, blank.turn, user, turn, "miss_param", blank.parameter)


def _split(
    draft: Draft, task: Task, index: int, user: str, later: Turn, kind: Kind, what: str
) -> Draft:
    """Turn ``index`` asks in vain; ``later`` follows with the reference."""
    asked = Turn(user=user, reveals=task.turns[index].reveals)
    turns = (*task.turns[:index], asked, later, *task.turns[index + 1 :])
    return replace(
        draft,
        task=task.model_copy(update={"kind": kind, "turns": turns}),
        expected=split_profile(draft.expected, index, kind),
        edit=f"{kind}:{index}:{what}",
        claimed=None,
    )


def _said_once(draft: Draft, index: int, value: Scalar) -> str | None:
    """How turn ``index`` spells the value, if nothing before tells it too."""
    trace, turns = draft.execution.trace, draft.task.turns
    for spelling in _spelled(value):
        said = [occurrences(turn.user, spelling) for turn in turns[: index + 1]]
        shown = any(
            holds(content, value)
            for content, turn in zip(trace.contents, trace.turn_of, strict=True)
            if turn < index
        )
        if said[-1] == 1 and sum(said) == 1 and not shown and len(spelling) > 1:
            return spelling
    return None


def _spelled(value: Scalar) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float):
        whole = int(value) if float(value).is_integer() else value
        yield from dict.fromkeys((str(value), str(whole), f"{whole:,}"))


def _is_number(spelling: str) -> bool:
    return spelling.replace(",", "").replace(".", "").isdigit()
