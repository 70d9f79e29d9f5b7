"""The kinds of tasks: a base task, or one whose turn is split because something is missing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rods.types import Kind, Turn
from rods_office.grammar.draft import DraftTurn, Unfit
from rods_office.grammar.skill import fill

#: Kind of slot -> how the user supplies a value that was missing.
SUPPLY: Mapping[str, str] = {
    "word": "the text is {%s}",
    "day": "on day {%s}",
    "count": "get {%s}",
    "amount": "pay {%s}",
    "phone": "the phone is {%s}",
    "new_file": "call it {%s}",
    "new_event": "call it {%s}",
    "file": "file {%s}",
    "person": "contact {%s}",
    "event": "event {%s}",
}


@dataclass(frozen=True, slots=True)
class KindTurns:
    """The turns of a task, and the tool that is hidden until a turn reveals it."""

    turns: tuple[Turn, ...]
    hidden: str = ""


def as_kind(kind: Kind, drafted: Sequence[DraftTurn]) -> KindTurns:
    """The turns of a task of ``kind``; raises Unfit where no turn can be split that way.

    Which turn is split, and what it lacks, follows from the skills alone: tasks of one structure
    are split alike.
    """
    rng = random.Random("/".join(turn.skill.name for turn in drafted))
    if kind == "miss_func":
        return _miss_func(drafted, rng)
    if kind == "miss_param":
        return _miss_param(drafted, rng)
    return KindTurns(tuple(map(_plain, drafted)))


def _plain(turn: DraftTurn) -> Turn:
    return Turn(user=turn.user, reference=turn.reference)


def _miss_func(drafted: Sequence[DraftTurn], rng: random.Random) -> KindTurns:
    """Hide the last tool of a turn until the turn after; no earlier turn needs it."""
    used: set[str] = set()
    choices = []
    for index, turn in enumerate(drafted):
        if turn.reference[-1].name not in used:
            choices.append(index)
        used.update(call.name for call in turn.reference)
    index = rng.choice(choices)
    hidden = drafted[index].reference[-1].name
    asked = Turn(user=drafted[index].user)
    handed = Turn(user=f"now use {hidden}", reference=drafted[index].reference, reveals=(hidden,))
    return KindTurns(_split(drafted, index, asked, handed), hidden)


def _miss_param(drafted: Sequence[DraftTurn], rng: random.Random) -> KindTurns:
    """Leave a value out of a request; the user gives it in the turn after."""
    choices = [index for index, turn in enumerate(drafted) if turn.skill.blurred]
    if not choices:
        raise Unfit("no request can be blurred")
    index = rng.choice(choices)
    turn = drafted[index]
    blurred = rng.choice(turn.skill.blurred)
    slot = turn.skill.missing(blurred)
    asked = Turn(user=fill(blurred, turn.slots))
    given = Turn(user=fill(SUPPLY[slot] % slot, turn.slots), reference=turn.reference)
    return KindTurns(_split(drafted, index, asked, given))


def _split(drafted: Sequence[DraftTurn], index: int, first: Turn, second: Turn) -> tuple[Turn, ...]:
    turns = list(map(_plain, drafted))
    return (*turns[:index], first, second, *turns[index + 1 :])
