"""A value that the user leaves out and gives in a message of its own: the kind miss_param.

The writer words both messages with the rest. Which values can be left out is decided by rule: the
user says it for the first time in that turn, and nothing else tells it before.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rods.structure import transforms
from rods.structure.leaves import Scalar
from rods.structure.sources import holds, said
from rods.structure.trace import Trace
from rods.synthesis.wording.brief import Brief, BriefCall, Silent, Value
from rods.synthesis.wording.phrases import plain
from rods.synthesis.wording.spoken import PLACEHOLDER
from rods.types import ComplexityProfile, SourceKind


@dataclass(frozen=True, slots=True)
class Gap:
    """``turn`` asks in vain for ``call``; the next turn tells its ``parameter``."""

    turn: int
    call: int
    parameter: str

    @property
    def edit(self) -> str:
        """As augmentations are recorded."""
        return f"miss_param:{self.turn}:{self.parameter}"

    @property
    def noun(self) -> str:
        """What is missing, in plain words."""
        return plain(self.parameter)


def gap_of(brief: Brief, trace: Trace, like: ComplexityProfile | None = None) -> Gap | None:
    """The gap to write, the same one for the same calls; None where no value can be left out.

    ``like`` prefers the turn that the seed leaves open.
    """
    found = list(gaps(brief, trace))
    if like is not None and 0 in like.calls_per_turn:
        wanted = like.calls_per_turn.index(0)
        nearest = min((abs(gap.turn - wanted) for gap in found), default=0)
        found = [gap for gap in found if abs(gap.turn - wanted) == nearest]
    names = " ".join(call.call.name for call in brief.calls)
    return random.Random(names).choice(found) if found else None


def gaps(brief: Brief, trace: Trace) -> Iterator[Gap]:
    """Every value that could be left out."""
    for index, call in enumerate(brief.calls):
        for parameter in call.words:
            value = _only_value(brief, call, parameter)
            if value is not None and _untold(brief, trace, value):
                yield Gap(call.turn, index, parameter)


def _only_value(brief: Brief, call: BriefCall, parameter: str) -> Value | None:
    """The one value that is all the user says for the parameter."""
    labels = PLACEHOLDER.findall(call.words[parameter])
    if len(labels) != 1 or call.kinds.get(parameter) is not SourceKind.USER:
        return None
    value = brief.values[labels[0]]
    whole = call.call.arguments[parameter] == value.literal
    fit = whole and not value.hole and value.turn == call.turn and len(value.spelling) > 1
    return value if fit else None


def _untold(brief: Brief, trace: Trace, value: Value) -> bool:
    """Neither another value said by then nor an earlier turn's result holds it."""
    others = [v for v in brief.values.values() if v.turn <= value.turn and v is not value]
    shown = zip(trace.contents, trace.turn_of, strict=True)
    return not any(_hears(value.literal, other.spelling) for other in others) and not any(
        holds(content, value.literal) for content, turn in shown if turn < value.turn
    )


def _hears(literal: Scalar, text: str) -> bool:
    return said(literal, text, text.casefold(), {number for _, number in transforms.numbers(text)})


# ---------------------------------------------------------------------- the conversation with it
def label_of(brief: Brief, gap: Gap) -> str:
    """The placeholder's name of the value that is left out."""
    return str(PLACEHOLDER.findall(brief.calls[gap.call].words[gap.parameter])[0])


def with_gap(brief: Brief, gap: Gap) -> Brief:
    """One turn more: all that the turn needs is said but the value, which the next one tells."""
    label = label_of(brief, gap)
    values = {
        name: replace(v, turn=v.turn + (v.turn > gap.turn or name == label))
        for name, v in brief.values.items()
    }
    missing = Silent(
        gap.call, gap.parameter, brief.values[label].literal, gap.turn, SourceKind.USER
    )
    return Brief(
        turns=brief.turns + 1,
        calls=[replace(call, turn=call.turn + (call.turn >= gap.turn)) for call in brief.calls],
        values=values,
        silent=[*(replace(s, turn=s.turn + (s.turn >= gap.turn)) for s in brief.silent), missing],
    )


def actions_with_gap(actions: Sequence[list[str]], gap: Gap, label: str) -> list[list[str]]:
    """What each message asks for; ``actions`` are those of the conversation without the gap."""
    slot = re.compile(rf"['\"]?\{{{label}\}}['\"]?")
    vague = f"a {gap.noun} that is not told yet"
    asked = [slot.sub(vague, action) for action in actions[gap.turn]]
    asked.append(f"leave the {gap.noun} open in this message, as if you had forgotten to tell it")
    told = [f"only tell the {gap.noun} that was missing, which is {{{label}}}"]
    return [*actions[: gap.turn], asked, told, *actions[gap.turn + 1 :]]


def trace_with_gap(trace: Trace, gap: Gap) -> Trace:
    """The execution by the turns of the longer conversation."""
    turn_of = tuple(turn + (turn >= gap.turn) for turn in trace.turn_of)
    return Trace(turn_of, trace.calls, trace.results, {}, trace.final)
