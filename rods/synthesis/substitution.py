"""Consistent substitution: every spelling of the old values, in one pass, at word boundaries.

One pass makes swaps safe (a -> b and b -> a) and the longest spelling wins. A template is a text or
a JSON tree that was searched once; rendering it again costs a join.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from rods.structure.leaves import like

Number = int | float
_NUMERIC = re.compile(r"[\d,]+(?:\.\d+)?")


def cut(text: str, spellings: Iterable[str]) -> list[str]:
    """The text in parts; every second one is a spelling that stands there as a word of its own.

    ``report`` is no word of its own in ``report.txt``, ``last`` none in ``last-minute``, 15 none in
    3.15 or 15:30; a possessive or a closing full stop does not disturb. Of spellings that begin at
    one place the longest counts, and what it covers is not looked at again.
    """
    found = [
        (at, -len(spelling), spelling)
        for spelling in spellings
        if spelling in text
        for at in positions(text, spelling)
    ]
    parts, end = [], 0
    for at, _, spelling in sorted(found):
        if at >= end:
            parts += [text[end:at], spelling]
            end = at + len(spelling)
    return [*parts, text[end:]]


def occurrences(text: str, spelling: str) -> int:
    """How often the spelling stands in the text as a word of its own."""
    return sum(1 for _ in positions(text, spelling))


def positions(text: str, spelling: str) -> Iterator[int]:
    """Where the spelling stands in the text as a word of its own."""
    at = text.find(spelling)
    while at >= 0:
        if not (_joined(text, at, spelling, -1) or _joined(text, at, spelling, 1)):
            yield at
        at = text.find(spelling, at + 1)


def _joined(text: str, at: int, spelling: str, side: int) -> bool:
    """What stands before (-1) or after (1) the spelling makes it a part of a longer word."""
    edge = spelling[0] if side < 0 else spelling[-1]
    near = at - 1 if side < 0 else at + len(spelling)
    if not _is_word(edge) or not 0 <= near < len(text):
        return False
    one, beyond = text[near], near + side
    two = text[beyond] if 0 <= beyond < len(text) else ""
    if _is_word(one) or (one in ".-" and two.isalnum()):
        return True
    return one in ",:/" and two.isdigit() and bool(_NUMERIC.fullmatch(spelling))


def _is_word(ch: str) -> bool:
    return ch == "_" or ch.isalnum()


class Substitution:
    """Old spelling -> new spelling, and old number -> new number, applied together."""

    def __init__(
        self, texts: Mapping[str, str], numbers: Mapping[Number, Number] | None = None
    ) -> None:
        self.texts = dict(texts)
        self.numbers = dict(numbers or {})

    def text(self, text: str) -> str:
        """The text with all spellings replaced."""
        return TextTemplate(text, self.texts).render(self.texts)

    def tree(self, value: Any) -> Any:
        """A JSON value with keys, strings and numbers replaced; a number keeps its type."""
        return TreeTemplate(value, self.texts, self.numbers).render(self.texts, self.numbers)

    def inverse(self) -> Substitution:
        """The way back; it exists where all new values differ."""
        return Substitution(
            {new: old for old, new in self.texts.items()},
            {new: old for old, new in self.numbers.items()},
        )


class TextTemplate:
    """A text cut at the spellings it holds."""

    __slots__ = ("_parts", "text")

    def __init__(self, text: str, spellings: Collection[str]) -> None:
        self.text = text
        parts = cut(text, spellings)
        self._parts = parts if len(parts) > 1 else None

    @property
    def touched(self) -> bool:
        """The text holds at least one of the spellings."""
        return self._parts is not None

    @property
    def spellings(self) -> set[str]:
        """The spellings that occur."""
        return set(self._parts[1::2]) if self._parts else set()

    def render(self, texts: Mapping[str, str]) -> str:
        """The text with new spellings; one that ``texts`` lacks stays."""
        if self._parts is None:
            return self.text
        parts = list(self._parts)
        parts[1::2] = [texts.get(part, part) for part in parts[1::2]]
        return "".join(parts)


class TreeTemplate:
    """A JSON value of which only the touched branches are copied when it is rendered."""

    __slots__ = ("_plan", "value")

    def __init__(self, value: Any, spellings: Collection[str], numbers: Collection[Any]) -> None:
        self.value = value
        self._plan = _branch(value, spellings, numbers)

    @property
    def touched(self) -> bool:
        """Rendering can give another value."""
        return self._plan is not None

    def render(self, texts: Mapping[str, str], numbers: Mapping[Number, Number]) -> Any:
        """The value with new spellings and numbers; untouched branches are shared, not copied."""
        return self.value if self._plan is None else _rendered(self._plan, texts, numbers)


_Plan = tuple[Any, ...]  # ("text", template) | ("number", n) | ("dict"|"list", value, branches)


def _branch(value: Any, spellings: Collection[str], numbers: Collection[Any]) -> _Plan | None:
    if isinstance(value, str):
        template = TextTemplate(value, spellings)
        return ("text", template) if template.touched else None
    if isinstance(value, dict):
        branches = []
        for key, item in value.items():
            renamed, below = TextTemplate(key, spellings), _branch(item, spellings, numbers)
            if renamed.touched or below:
                branches.append((key, renamed if renamed.touched else None, below))
        keys = any(renamed for _, renamed, _ in branches)
        return ("keys" if keys else "dict", value, branches) if branches else None
    if isinstance(value, list | tuple):
        items = [(i, _branch(item, spellings, numbers)) for i, item in enumerate(value)]
        touched = [(i, below) for i, below in items if below]
        return ("list", value, touched) if touched else None
    if isinstance(value, int | float) and not isinstance(value, bool) and value in numbers:
        return ("number", value)
    return None


def _rendered(plan: _Plan, texts: Mapping[str, str], numbers: Mapping[Number, Number]) -> Any:
    match plan[0]:
        case "text":
            return plan[1].render(texts)
        case "number":
            return like(numbers.get(plan[1], plan[1]), plan[1])
        case "list":
            items = list(plan[1])
            for index, below in plan[2]:
                items[index] = _rendered(below, texts, numbers)
            return items
        case "dict":
            copied = dict(plan[1])
            for key, _, below in plan[2]:
                copied[key] = _rendered(below, texts, numbers)
            return copied
    return _renamed(plan, texts, numbers)


def _renamed(plan: _Plan, texts: Mapping[str, str], numbers: Mapping[Number, Number]) -> Any:
    """A dictionary with new keys, in the old order; two keys that became one are an error."""
    touched = {key: (renamed, below) for key, renamed, below in plan[2]}
    result = {}
    for key, item in plan[1].items():
        renamed, below = touched.get(key, (None, None))
        new_key = renamed.render(texts) if renamed else key
        result[new_key] = _rendered(below, texts, numbers) if below else item
    if len(result) < len(plan[1]):
        raise ValueError("two keys of one dictionary became equal")
    return result
