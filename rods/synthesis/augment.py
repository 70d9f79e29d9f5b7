"""V. Augment without a language model: harder kinds as pure edits of a verified base task.

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
from typing import Self

from pydantic import Field, model_validator

from rods.interfaces import ComponentConfig, Environment
from rods.structure.leaves import Scalar
from rods.structure.sources import Labeller, Source, holds
from rods.structure.trace import replay
from rods.synthesis.contracts import AugmentStage, Draft, rejection
from rods.synthesis.fresh import Dice
from rods.synthesis.reasons import Reason
from rods.synthesis.structures.base_form import structural_distance
from rods.synthesis.substitution import occurrences
from rods.types import ComplexityProfile, Kind, Rejection, SourceKind, Stage, Task, Turn

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


class KindEditor(AugmentStage):
    """Edits base drafts."""

    def __init__(
        self, config: AugmentConfig, environment: Environment, labeller: Labeller | None = None
    ) -> None:
        """``labeller`` tells the sources of new structures, whose blueprint is the seed's."""
        self._config, self._environment, self._labeller = config, environment, labeller

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
        return rng.choice(edits)

    def widen(self, draft: Draft, rng: random.Random) -> Draft:
        """With its share, the draft with tools on offer that its reference does not need."""
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
            user=self._hand_over.replace("{}", name), reference=asked.reference, reveals=(name,)
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
        trace = draft.execution.trace
        for source in self._sources(draft):
            if source.kind is not SourceKind.USER or source.path:
                continue
            index = trace.turn_of[source.call]
            value = trace.calls[source.call].arguments.get(source.parameter)
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                spelling = _said_once(draft, index, value)
                if spelling:
                    yield self._blurred(draft, index, source.parameter, spelling)

    @staticmethod
    def _blurred(draft: Draft, index: int, parameter: str, spelling: str) -> Draft:
        asked, noun = draft.task.turns[index], _plain(parameter)
        vague = "some" if spelling[0].isdigit() and _is_number(spelling) else f"a certain {noun}"
        quoted = re.compile(rf"(?:\b[Tt]he )?[$€£'\"`‘“]?{re.escape(spelling)}['\"`’”]?")
        user = quoted.sub(lambda _: vague, asked.user, count=1)
        later = Turn(user=f"The {noun} is {spelling}.", reference=asked.reference)
        return _split(draft, draft.task, index, user, later, "miss_param", parameter)

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


def _split(
    draft: Draft, task: Task, index: int, user: str, later: Turn, kind: Kind, what: str
) -> Draft:
    """Turn ``index`` asks in vain; ``later`` follows with the reference."""
    asked = Turn(user=user, reveals=task.turns[index].reveals)
    turns = (*task.turns[:index], asked, later, *task.turns[index + 1 :])
    calls = draft.expected.calls_per_turn
    expected: ComplexityProfile = draft.expected.model_copy(
        update={"kind": kind, "calls_per_turn": (*calls[:index], 0, *calls[index:])}
    )
    return replace(
        draft,
        task=task.model_copy(update={"kind": kind, "turns": turns}),
        expected=expected,
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


def _plain(parameter: str) -> str:
    """The parameter's name in plain words: ``fileName2`` is a file name."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", parameter)
    return " ".join(words).lower() or "value"
