"""How a user points at one of several things that a result lists, without its literal name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rods.structure.leaves import Path, Scalar, parse, same, tokens, walk
from rods.synthesis.wording.given import agree, alike, holder, names_records
from rods.synthesis.wording.phrases import plain, thing
from rods.synthesis.wording.spoken import respelled
from rods.types import JsonObject

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_BREAKS = (";", "\n")
_LONGEST = 30  # characters of an attribute that a user would say


@dataclass(frozen=True, slots=True)
class _Place:
    """One of several things: the outermost choice along a path."""

    index: int
    size: int
    record: Any
    name: str = ""  # by which a dictionary of names and ids knows it
    inside: Path = ()  # the rest of the path, within the record


def pointed_at(noun: str, parameter: str, value: Scalar, content: str, path: Path) -> str | None:
    """ "the annual report file", "the event with 220", "the second order".

    ``noun`` is what the answer calls it. None where the result holds but one such thing, so that
    "that event" is clear.
    """
    place = _place(parse(content), path)
    if place is None:
        return None
    found = _by_words(parameter, value) or _by_name(noun, place)
    found = found or _by_attribute(noun, value, place.record, content)
    if found is None and place.index < len(ORDINALS):
        last = place.index == place.size - 1
        found = f"the {'last' if last else ORDINALS[place.index]} {noun}"
    return found


def known_as(parameter: str, value: Scalar, state: JsonObject) -> str | None:
    """How a user speaks of a value that only the state holds: "my card", "the symbol of my order".

    None where nothing in the state tells it from others of its kind, or only an amount, which
    nobody could find it by.
    """
    if words := _by_words(parameter, value):
        return words
    if not isinstance(value, str) and not plain(parameter).endswith("id"):
        return None  # an amount that happens to stand in the state too
    for path, leaf in walk(state):
        steps = _steps(path, value, leaf)
        if steps is not None:
            return _in_state(parameter, value, state, steps)
    return None


def _in_state(parameter: str, value: Scalar, state: JsonObject, steps: Path) -> str | None:
    place = _place(state, steps)
    if place is None:
        return _only_one(parameter, state, steps)
    if name := _by_name(thing(parameter), place):
        return name
    if len(place.inside) > 1 or (place.inside and not agree(str(place.inside[0]), parameter)):
        return None  # a part of one of several records
    whole = json.dumps(state)
    return _by_attribute(thing(parameter), value, place.record, whole, texts=True)


def _only_one(parameter: str, state: JsonObject, steps: Path) -> str | None:
    """ "my card" for the only one there is, "the symbol of my order" for a field of it."""
    noun, last = thing(parameter), steps[-1]
    fields = [step for step in steps if isinstance(step, str)]
    if isinstance(last, tuple):
        kind = holder(fields[-1]) if fields else ""
        if kind and agree(kind.replace(" ", "_"), parameter):
            return f"my {noun}"
        inside = _parent(state, steps)
        return f"the {noun} in {inside}" if inside else None
    if isinstance(last, int):
        return f"the {noun} in my {plain(fields[-1])}" if fields else None
    if not agree(last, parameter):
        return None
    owner = _owner(state, steps)
    return f"my {noun}" if owner is None else f"the {noun} of my {owner}" if owner else None


def _owner(state: Any, steps: Path) -> str | None:
    """What the record is whose field the value is; None: the user's own; empty: nothing says."""
    owner: str | None = None
    field, value = "", state
    for step in steps[:-1]:
        if isinstance(value, list) or names_records(value) or _is_id(step):
            owner = holder(field) if field else ""
        elif isinstance(step, str):
            field = step
        value = value[step]
    return owner


def _is_id(step: Any) -> bool:
    return isinstance(step, str) and step[:1].isdigit()


def _parent(state: Any, steps: Path) -> str:
    """The nearest record around of the same form, by its name: the folder of a folder."""
    value, around = state, []
    for step in steps[:-1]:
        value = value[step]
        around.append((step, value))
    form = _form(value.get(steps[-1][1]))
    for step, record in reversed(around):
        if form and _form(record) == form and isinstance(step, str):
            return step
    return ""


def _form(record: Any) -> frozenset[str]:
    return frozenset(record) if isinstance(record, dict) else frozenset()


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


def _by_name(noun: str, place: _Place) -> str | None:
    """A name that stands for its id: users say "Michael"."""
    if not place.name or not _plain(place.name):
        return None
    return place.name if place.name.replace(" ", "").isalpha() else f"the {noun} of {place.name}"


def _by_attribute(
    noun: str, value: Scalar, record: Any, content: str, *, texts: bool = False
) -> str | None:
    """``texts``: only by words, not by numbers."""
    for field, leaf in _leaves(record):
        fit = not texts or (isinstance(leaf, str) and not leaf[:1].isdigit())
        if fit and str(leaf) != str(value) and content.count(str(leaf)) == 1 and _plain(leaf):
            return f"the {noun} with the {field} {leaf}" if field else f"the {noun} with {leaf}"
    return None


def _place(answer: Any, path: Path) -> _Place | None:
    """The outermost choice along the path."""
    for depth, step in enumerate(path):
        if isinstance(step, tuple):
            return _keyed(answer, step[1]) if step[0] == "key" else _segment(answer, step[1])
        rest = path[depth + 1 :]
        if isinstance(answer, list) and len(answer) > 1:
            return _Place(int(step), len(answer), answer[step], inside=rest)
        if isinstance(answer, dict) and (many := alike(answer, step)) > 1:
            return _Place(list(answer).index(step), many, None, name=step)
        if isinstance(answer, dict) and len(answer) > 1 and names_records(answer):
            return _Place(list(answer).index(step), len(answer), answer[step], inside=rest)
        answer = answer[step]
    return None


def _keyed(answer: Any, which: int | str) -> _Place | None:
    if not isinstance(answer, dict) or len(answer) < 2:
        return None
    index = which if isinstance(which, int) else list(answer).index(which)
    return _Place(index, len(answer), list(answer.values())[index])


def _segment(text: Any, token: int) -> _Place | None:
    """The record of a plain text ("e1 lunch 3; e2 dinner 4") that holds the token."""
    for mark in _BREAKS:
        segments = str(text).split(mark)
        if len(segments) < 2:
            continue
        seen = 0
        for index, segment in enumerate(segments):
            own = list(tokens(segment))
            if token < seen + len(own):
                return _Place(index, len(segments), own)
            seen += len(own)
    return None


def _leaves(record: Any) -> Iterator[tuple[str, Scalar]]:
    """Each value with the name of its field in plain words, if it has one."""
    for path, leaf in walk(record):
        if leaf is not None and not isinstance(leaf, bool) and leaf != "":
            fields = [step for step in path if isinstance(step, str)]
            yield plain(fields[-1]) if fields else "", leaf


def _plain(leaf: Scalar) -> bool:
    return len(str(leaf)) <= _LONGEST and re.search(r"[^\w .'-]", str(leaf)) is None
