"""Where every argument of a reference comes from.

Order of precedence: what the user has said so far, constants of the schema, the latest earlier
result, the visible state, a named transform of one of these. Numbers below 100 match by chance, so
results and state count for them only where the name of the field fits the parameter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from rods.structure import transforms
from rods.structure.constants import Constants, key
from rods.structure.leaves import Path, Scalar, find, parse, walk
from rods.structure.trace import Trace
from rods.types import JsonObject, SourceKind, Task

_WORD = re.compile(r"\w+")
_ZEROS = re.compile(r"0+(?!\w)")
_FIELD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_HARDEST = (
    SourceKind.UNKNOWN,
    SourceKind.DERIVED,
    SourceKind.RESULT,
    SourceKind.STATE,
    SourceKind.USER,
    SourceKind.CONSTANT,
)
_LONG = 2000  # characters of a result that nobody computes with
T = TypeVar("T")
Tables = Mapping[str, Mapping[str, str]]  # lookup tool -> phrase -> value


@dataclass(frozen=True, slots=True)
class Source:
    """The source of one leaf of one argument."""

    call: int
    parameter: str
    path: Path  # within the argument
    value: Scalar
    kind: SourceKind
    producer: int | None = None  # the call whose result holds it, or what it was rounded from
    result_path: Path | None = None
    transform: str = ""  # of a DERIVED value
    detail: str = ""  # what the transform was applied to


class _Known:
    """What has been said and shown before a call; what is derived from it is made when asked."""

    def __init__(self) -> None:
        self.text = self.folded = ""
        self.contents: list[str] = []
        self._answers: dict[int, Any] = {}
        self._of_text: dict[str, Any] = {}  # derived from the text so far
        self._seen: set[str] = set()
        self._read = 0  # results whose words are among those seen

    def hear(self, user: str) -> None:
        self.text += "\n" + user
        self.folded += "\n" + user.casefold()
        self._of_text.clear()

    def _derived(self, name: str, make: Callable[[str], T]) -> T:
        if name not in self._of_text:
            self._of_text[name] = make(self.text)
        return cast(T, self._of_text[name])

    def says(self, value: Scalar) -> bool:
        if isinstance(value, str):
            return said(value, self.text, self.folded, ())
        return value in self.numbers

    @property
    def numbers(self) -> set[float]:
        return self._derived("numbers", lambda t: {n for _, n in transforms.numbers(t)})

    @property
    def number_words(self) -> set[float]:
        return self._derived("words", transforms.number_words)

    @property
    def dates(self) -> list[transforms.SpokenDate]:
        return self._derived("dates", lambda text: list(transforms.dates(text)))

    @property
    def squashed(self) -> str:
        return self._derived("squashed", transforms.squash)

    def words(self) -> set[str]:
        for content in self.contents[self._read :]:
            self._seen.update(_WORD.findall(content[:4000].casefold()))
        self._read = len(self.contents)
        said_words = self._derived("said", lambda _: set(_WORD.findall(self.folded)))
        return self._seen | said_words

    def answer(self, call: int) -> Any:
        if call not in self._answers:
            self._answers[call] = parse(self.contents[call])
        return self._answers[call]


class Labeller:
    """Labels the arguments of executed references of one environment."""

    def __init__(self, known_constants: Constants, tables: Tables | None = None) -> None:
        self._constants = known_constants
        self._tables = tables or {}

    def label(
        self, task: Task, trace: Trace, visible: Callable[[], JsonObject] | None = None
    ) -> list[Source]:
        """One source for every leaf, in order; ``visible`` gives the whole state if needed."""
        state = _State(task.initial_state, visible)
        known, sources, heard = _Known(), [], -1
        for call, (turn, wanted) in enumerate(zip(trace.turn_of, trace.calls, strict=True)):
            while heard < turn:
                heard += 1
                known.hear(task.turns[heard].user)
            for parameter, argument in wanted.arguments.items():
                nested = isinstance(argument, dict | list)
                for path, value in walk(argument) if nested else (((), argument),):
                    leaf = (call, parameter, path, cast(Scalar, value))
                    sources.append(self._source(leaf, wanted.name, known, state))
            known.contents.append(trace.results[call].content)
        return sources

    def _source(
        self, leaf: tuple[int, str, Path, Scalar], tool: str, known: _Known, state: _State
    ) -> Source:
        parameter, value = leaf[1], leaf[3]
        if value is None or isinstance(value, bool) or not _speakable(value):
            return Source(*leaf, SourceKind.CONSTANT)
        if known.says(value):
            return Source(*leaf, SourceKind.USER)
        if key(value) in self._constants.get((tool, parameter), frozenset()):
            return Source(*leaf, SourceKind.CONSTANT)
        for call in range(len(known.contents) - 1, -1, -1):
            if holds(known.contents[call], value):
                path = find(known.answer(call), value)
                if path is not None and _fits(value, path, parameter):
                    return Source(*leaf, SourceKind.RESULT, call, path)
        if state.holds(value, parameter):
            return Source(*leaf, SourceKind.STATE)
        if isinstance(value, float) and (rounded := _rounded(value, known)):
            return Source(*leaf, SourceKind.DERIVED, *rounded, "rounded")
        if found := self._derived(value, known):
            return Source(*leaf, SourceKind.DERIVED, transform=found[0], detail=found[1])
        return Source(*leaf, SourceKind.UNKNOWN)

    def _derived(self, value: Scalar, known: _Known) -> tuple[str, str] | None:
        if isinstance(value, str):
            return self._derived_text(value, known)
        assert value is not None
        number = float(value)
        if number in known.number_words:
            return "number_word", ""
        shown = [n for c in known.contents[-4:] for _, n in transforms.numbers(c[:2000])]
        operands = [*known.numbers, *known.number_words, *shown]
        name = transforms.arithmetic(number, operands)
        return (name, "") if name else None

    def _derived_text(self, value: str, known: _Known) -> tuple[str, str] | None:
        if (date := transforms.iso_date(value)) and any(
            spoken.matches(*date) for spoken in known.dates
        ):
            return "date", ""
        for tool, table in self._tables.items():
            for phrase, looked_up in table.items():
                if looked_up == value and known.says(phrase):
                    return "table", f"{tool}:{phrase}"
        if transforms.respelled(value, known.squashed):
            return "spelling", ""
        return ("wording", "") if transforms.worded(value, known.words()) else None


def _rounded(value: float, known: _Known) -> tuple[int, Path] | None:
    """The latest result that rounds to the value, and where it stands there."""
    decimals = len(repr(value).partition(".")[2])
    for call in range(len(known.contents) - 1, -1, -1):
        if len(known.contents[call]) > _LONG:
            continue
        for path, leaf in walk(known.answer(call)):
            if isinstance(leaf, float) and leaf != value and round(leaf, decimals) == value:
                return call, path
    return None


def by_parameter(sources: Sequence[Source], calls: int) -> tuple[dict[str, SourceKind], ...]:
    """One mapping a call: parameter -> its kind; of several leaves the hardest counts."""
    mapped: list[dict[str, SourceKind]] = [{} for _ in range(calls)]
    for source in sources:
        before = mapped[source.call].get(source.parameter, SourceKind.CONSTANT)
        hardest = min(before, source.kind, key=_HARDEST.index)
        mapped[source.call][source.parameter] = hardest
    return tuple(mapped)


def said(value: Scalar, text: str, folded: str, numbers: Sequence[float] | set[float]) -> bool:
    """The value stands in the text as a whole word; case counts only for one or two letters."""
    if isinstance(value, str):
        if len(value) <= 2:
            return holds(text, value)
        return holds(folded, value.casefold())
    return value in numbers


def holds(text: str, value: Scalar) -> bool:
    """The text holds the value, not inside a longer word or number."""
    wanted = value if isinstance(value, str) else _digits(value)
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        if _bounded(text, at, at + len(wanted), wanted):
            return True
        at = text.find(wanted, at + 1)
    return False


def _bounded(text: str, start: int, end: int, wanted: str) -> bool:
    left, right = text[start - 1 : start], text[end : end + 1]
    if (left.isalnum() or left == "_") and (wanted[0].isalnum() or wanted[0] == "_"):
        return False
    if (right.isalnum() or right == "_") and (wanted[-1].isalnum() or wanted[-1] == "_"):
        return False
    if wanted[-1].isdigit() and right in (".", ",") and text[end + 1 : end + 2].isdigit():
        return right == "." and _ZEROS.match(text, end + 1) is not None  # 15.0 is 15
    return not (
        wanted[0].isdigit() and left in (".", "-") and text[start - 2 : start - 1].isalnum()
    )


def _digits(value: Scalar) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _speakable(value: Scalar) -> bool:
    return not isinstance(value, str) or any(ch.isalnum() for ch in value)


def _small(value: Scalar) -> bool:
    return isinstance(value, int | float) and float(value).is_integer() and abs(value) < 100


def _fits(value: Scalar, path: Path, parameter: str) -> bool:
    return not _small(value) or field_fits(path, parameter)


def field_fits(path: Path, parameter: str) -> bool:
    """The field at ``path`` and the parameter share a part of their names: id and ticket_id."""
    names = [step for step in path if isinstance(step, str)]
    if not names:
        return False
    return bool(_parts(names[-1]) & _parts(parameter))


def _parts(name: str) -> set[str]:
    return {part.lower() for part in _FIELD.findall(name)}


class _State:
    """The initial state as the task gives it, and only if needed as the session shows it."""

    def __init__(self, initial: JsonObject, visible: Callable[[], JsonObject] | None) -> None:
        self._visible = visible
        self._states: list[JsonObject] = [initial]
        self._texts: list[str] = []
        self._small: list[dict[Scalar, list[Path]]] = []

    def holds(self, value: Scalar, parameter: str) -> bool:
        """A leaf or a key of the state is the value."""
        if self._among(0, value, parameter):
            return True
        if self._visible is None:
            return False
        if len(self._states) == 1:
            self._states.append(self._visible())
        return self._among(1, value, parameter)

    def _among(self, which: int, value: Scalar, parameter: str) -> bool:
        while len(self._texts) <= which:
            text = json.dumps(self._states[len(self._texts)], ensure_ascii=False)
            self._texts.append(text)
        if _small(value):
            if f": {_digits(value)}" not in self._texts[which]:  # walking a large state takes long
                return False
            return any(field_fits(path, parameter) for path in self._numbers(which).get(value, ()))
        if isinstance(value, str) and ('"' in value or "\\" in value or not value.isprintable()):
            value = json.dumps(value, ensure_ascii=False)[1:-1]
        return holds(self._texts[which], value)

    def _numbers(self, which: int) -> dict[Scalar, list[Path]]:
        """Number -> where the state holds it."""
        while len(self._small) <= which:
            found: dict[Scalar, list[Path]] = {}
            for path, leaf in walk(self._states[len(self._small)]):
                if isinstance(leaf, int | float) and not isinstance(leaf, bool):
                    found.setdefault(leaf, []).append(path)
            self._small.append(found)
        return self._small[which]
