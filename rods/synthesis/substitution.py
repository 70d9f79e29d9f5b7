"""Consistent substitution: every spelling of the old values, in one pass, at word boundaries.

One pass makes swaps safe (a -> b and b -> a) and the longest spelling wins. A template is a text or
a JSON tree that was searched once; rendering it again costs a join.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rods.structure.leaves import like

Number = int | float
_NOTHING = re.compile(r"(?!)")
_NUMERIC = re.compile(r"[\d,]+(?:\.\d+)?")


def pattern(spellings: Iterable[str]) -> re.Pattern[str]:
    """Matches any of the spellings where it stands as a word of its own, longest first.

    ``report`` is no word of its own in ``report.txt``, ``last`` none in ``last-minute``; a
    possessive or a closing full stop does not disturb.
    """
    ordered = sorted(set(spellings), key=lambda s: (-len(s), s))
    if not ordered:
        return _NOTHING
    return re.compile("(" + "|".join(_bounded(spelling) for spelling in ordered) + ")")


def _bounded(spelling: str) -> str:
    left = right = ""
    numeric = bool(_NUMERIC.fullmatch(spelling))
    if _is_word(spelling[0]):
        left = r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9][.\-])" + (r"(?<!\d[,:/])" if numeric else "")
    if _is_word(spelling[-1]):
        right = r"(?![A-Za-z0-9_])(?![.\-][A-Za-z0-9])" + (r"(?![,:/]\d)" if numeric else "")
    return left + re.escape(spelling) + right


def occurrences(text: str, spelling: str) -> int:
    """How often ``pattern([spelling])`` matches, without compiling it."""
    count, at = 0, text.find(spelling)
    while at >= 0:
        end = at + len(spelling)
        count += not (_joined_left(text, at, spelling) or _joined_right(text, end, spelling))
        at = text.find(spelling, at + 1)
    return count


def _joined_left(text: str, at: int, spelling: str) -> bool:
    if not at or not _is_word(spelling[0]):
        return False
    one, two = text[at - 1], text[at - 2 : at - 1]
    if _is_word(one) or (one in ".-" and two.isascii() and two.isalnum()):
        return True
    return one in ",:/" and two.isdigit() and bool(_NUMERIC.fullmatch(spelling))


def _joined_right(text: str, end: int, spelling: str) -> bool:
    if end == len(text) or not _is_word(spelling[-1]):
        return False
    one, two = text[end], text[end + 1 : end + 2]
    if _is_word(one) or (one in ".-" and two.isascii() and two.isalnum()):
        return True
    return one in ",:/" and two.isdigit() and bool(_NUMERIC.fullmatch(spelling))


def _is_word(ch: str) -> bool:
    return ch == "_" or (ch.isascii() and ch.isalnum())


class Substitution:
    """Old spelling -> new spelling, and old number -> new number, applied together."""

    def __init__(
        self, texts: Mapping[str, str], numbers: Mapping[Number, Number] | None = None
    ) -> None:
        self.texts = dict(texts)
        self.numbers = dict(numbers or {})
        self._pattern = pattern(self.texts)

    def text(self, text: str) -> str:
        """The text with all spellings replaced."""
        return self._pattern.sub(lambda found: self.texts[found[0]], text)

    def tree(self, value: Any) -> Any:
        """A JSON value with keys, strings and numbers replaced; a number keeps its type."""
        return TreeTemplate(value, self._pattern, self.numbers).render(self.texts, self.numbers)

    def inverse(self) -> Substitution:
        """The way back; it exists where all new values differ."""
        return Substitution(
            {new: old for old, new in self.texts.items()},
            {new: old for old, new in self.numbers.items()},
        )


class TextTemplate:
    """A text cut at the spellings it holds."""

    __slots__ = ("_parts", "text")

    def __init__(self, text: str, spellings: re.Pattern[str]) -> None:
        self.text = text
        parts = spellings.split(text)
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

    def __init__(self, value: Any, spellings: re.Pattern[str], numbers: Collection[Any]) -> None:
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


def _branch(value: Any, spellings: re.Pattern[str], numbers: Collection[Any]) -> _Plan | None:
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
