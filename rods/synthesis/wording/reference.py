"""How a user points at one of several things that a result lists, without its literal name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rods.structure.leaves import Path, Scalar, parse, tokens, walk
from rods.synthesis.wording.phrases import thing
from rods.synthesis.wording.spoken import respelled

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_BREAKS = (";", "\n")
_LONGEST = 30  # characters of an attribute that a user would say


def pointed_at(parameter: str, value: Scalar, content: str, path: Path) -> str | None:
    """ "the annual report file", "the event with 220", "the second order".

    None where the result holds but one such thing, so that "that event" is clear.
    """
    answer = parse(content)
    place = _place(answer, path)
    if place is None:
        return None
    noun = thing(parameter)
    words = respelled(value) if isinstance(value, str) else None
    if words and not any(ch.isdigit() for ch in words):
        return f"the {words}" if noun in words.split() else f"the {words} {noun}"
    index, size, record = place
    for leaf in _leaves(record):
        if str(leaf) != str(value) and content.count(str(leaf)) == 1 and _plain(leaf):
            return f"the {noun} with {leaf}"
    if index == size - 1:
        return f"the last {noun}"
    return f"the {_ORDINALS[index]} {noun}" if index < len(_ORDINALS) else None


def _place(answer: Any, path: Path) -> tuple[int, int, Any] | None:
    """Index, number of siblings and record of the outermost choice along the path."""
    for step in path:
        if isinstance(step, tuple):
            return _keyed(answer, step[1]) if step[0] == "key" else _segment(answer, step[1])
        if isinstance(answer, list) and len(answer) > 1:
            return int(step), len(answer), answer[step]
        answer = answer[step]
    return None


def _keyed(answer: Any, index: int) -> tuple[int, int, Any] | None:
    if not isinstance(answer, dict) or len(answer) < 2:
        return None
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
