"""How a user points at one of several things that a result lists, without its literal name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from rods.structure.leaves import Path, Scalar, parse, same, tokens, walk
from rods.synthesis.wording.phrases import plain, thing
from rods.synthesis.wording.spoken import respelled
from rods.types import JsonObject

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_DIGITS = re.compile(r"\d+")
_BREAKS = (";", "\n")
_LONGEST = 30  # characters of an attribute that a user would say


def pointed_at(parameter: str, value: Scalar, content: str, path: Path) -> str | None:
    """ "the annual report file", "the event with 220", "the second order".

    None where the result holds but one such thing, so that "that event" is clear.
    """
    place = _place(parse(content), path)
    if place is None:
        return None
    index, size, record = place
    found = _by_words(parameter, value) or _by_attribute(parameter, value, record, content)
    if found is None and index < len(_ORDINALS):
        found = f"the {'last' if index == size - 1 else _ORDINALS[index]} {thing(parameter)}"
    return found


def known_as(parameter: str, value: Scalar, state: JsonObject) -> str | None:
    """How a user speaks of a value that only the state holds: "my card", "the order with AAPL".

    None where nothing in the state tells it from others of its kind.
    """
    if words := _by_words(parameter, value):
        return words
    if not isinstance(value, str) and not plain(parameter).endswith("id"):
        return None  # an amount that happens to stand in the state too
    for path, leaf in walk(state):
        steps = _steps(path, value, leaf)
        if steps is None:
            continue
        place = _place(state, steps)
        if place is None:
            return f"my {thing(parameter)}"
        return _by_attribute(parameter, value, place[2], json.dumps(state))
    return None


def _steps(path: Path, value: Scalar, leaf: Scalar) -> Path | None:
    """The path to the value, as a leaf or as a key on the way; a key counts with its siblings."""
    if same(leaf, value):
        return path
    for depth, step in enumerate(path):
        if isinstance(step, str) and step == str(value):
            return (*path[:depth], ("key", step))
    return None


def _by_words(parameter: str, value: Scalar) -> str | None:
    noun = thing(parameter)
    words = respelled(value) if isinstance(value, str) else None
    if not words or any(ch.isdigit() for ch in words):
        return None
    return f"the {words}" if noun in words.split() else f"the {words} {noun}"


def _by_attribute(parameter: str, value: Scalar, record: Any, content: str) -> str | None:
    for leaf in _leaves(record):
        if str(leaf) != str(value) and content.count(str(leaf)) == 1 and _plain(leaf):
            return f"the {thing(parameter)} with {leaf}"
    return None


def _place(answer: Any, path: Path) -> tuple[int, int, Any] | None:
    """Index, number of siblings and record of the outermost choice along the path."""
    for step in path:
        if isinstance(step, tuple):
            return _keyed(answer, step[1]) if step[0] == "key" else _segment(answer, step[1])
        if isinstance(answer, list) and len(answer) > 1:
            return int(step), len(answer), answer[step]
        if isinstance(answer, dict) and (alike := _alike(answer, answer[step])) > 1:
            return list(answer).index(step), alike, step
        answer = answer[step]
    return None


def _alike(siblings: dict[str, Any], value: Any) -> int:
    """How many values of a dictionary are ids of the same form: {"Alice": "U1", "Bob": "U2"}."""
    if not isinstance(value, str) or not _DIGITS.search(value):
        return 0
    form = _DIGITS.sub("0", value)
    return sum(isinstance(v, str) and _DIGITS.sub("0", v) == form for v in siblings.values())


def _keyed(answer: Any, which: int | str) -> tuple[int, int, Any] | None:
    if not isinstance(answer, dict) or len(answer) < 2:
        return None
    index = which if isinstance(which, int) else list(answer).index(which)
    return index, len(answer), list(answer.values())[index]


def _segment(text: Any, token: int) -> tuple[int, int, Any] | None:
    """The record of a plain text ("e1 lunch 3; e2 dinner 4") that holds the token."""
    for mark in _BREAKS:
        segments = str(text).split(mark)
        if len(segments) < 2:
            continue
        seen = 0
        for index, segment in enumerate(segments):
            own = list(tokens(segment))
            if token < seen + len(own):
                return index, len(segments), own
            seen += len(own)
    return None


def _leaves(record: Any) -> Iterator[Scalar]:
    for _, leaf in walk(record):
        if leaf is not None and not isinstance(leaf, bool) and leaf != "":
            yield leaf


def _plain(leaf: Scalar) -> bool:
    return len(str(leaf)) <= _LONGEST and re.search(r"[^\w .'-]", str(leaf)) is None
