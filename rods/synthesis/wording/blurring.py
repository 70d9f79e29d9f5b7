"""A value taken out of a finished message by a model, checked by rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from rods.structure import transforms
from rods.structure.leaves import Scalar, walk
from rods.structure.sources import said
from rods.synthesis.structures.assistant import Assistant, Blurred
from rods.synthesis.wording.phrases import plain
from rods.types import Turn

SLOT = "{value}"
_WORD = re.compile(r"\w+")
_LONGEST = 300  # characters of the message that supplies a value


def blurred(
    assistant: Assistant,
    key: str,
    turn: Turn,
    parameter: str,
    spelling: str,
    names: Collection[str] = (),
) -> tuple[str, str] | None:
    """The request without the value and the message that tells it; None where a rule is broken.

    ``names`` are those of functions and parameters, which no user says.
    """
    message = turn.user.replace(spelling, SLOT, 1)
    given = assistant.blur(key, message, plain(parameter))
    if given is None or problem(given, turn, spelling, names):
        return None
    return given.request.strip(), given.supply.strip().replace(SLOT, spelling)


def problem(given: Blurred, turn: Turn, spelling: str, names: Collection[str] = ()) -> str:
    """What is wrong with the pair; empty: the value is absent, then present, and all else stays."""
    request, supply = given.request.strip(), given.supply.strip()
    if not request or "{" in request or _says(request, spelling):
        return "the request still tells the value"
    if supply.count(SLOT) != 1 or "{" in supply.replace(SLOT, "") or len(supply) > _LONGEST:
        return "the later message does not tell the value once"
    if lost := [value for value in _others(turn, spelling) if not _says(request, value)]:
        return f"the request lacks {lost[0]!r}"
    if leaked := set(_WORD.findall(f"{request} {supply}")) & set(names):
        return f"users do not know {', '.join(sorted(leaked))}"
    return ""


def _others(turn: Turn, spelling: str) -> Iterator[Scalar]:
    """The other values that the message tells."""
    rest = turn.user.replace(spelling, SLOT, 1)
    for call in turn.reference:
        for _, leaf in walk(call.arguments):
            if leaf is not None and not isinstance(leaf, bool) and _says(rest, leaf):
                yield leaf


def _says(text: str, value: Scalar) -> bool:
    """The text tells the value, as it is written or as a number in words."""
    numbers = {number for _, number in transforms.numbers(text)} | transforms.number_words(text)
    if said(value, text, text.casefold(), numbers):
        return True
    digits = str(value).replace(",", "")
    try:
        return float(digits) in numbers
    except ValueError:
        return False
