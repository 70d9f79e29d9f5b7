"""Where an unexpected exception came from: the innermost line of the author's own code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rods.errors import WorldError, did_you_mean, reason

_LONGEST = 200  # characters of a message
_CALLS = frozenset({"call", "user_call"})  # methods of a session: what a policy said is at work


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception as the author of a plugin needs it."""

    error: str  # KeyError: 'aloe'
    place: str  # my_world/world.py, line 31, in move_plant; empty: no line of theirs
    fix: str
    traceback: str
    outage: bool = False

    def __str__(self) -> str:
        return f"{self.error} ({self.place})" if self.place else self.error

    @property
    def key(self) -> str:
        """Equal for what would end together: one line of theirs is mended, one server is back."""
        if self.outage or not self.place:
            return self.error
        return f"{self.error.partition(':')[0]} {self.place}"


def fault(error: BaseException, owners: Iterable[str] = ()) -> Fault:
    """What was raised and where; ``owners`` are as ``owners_of`` gives them, none: whoever."""
    frames = [found for one in _chain(error) for found in traceback.walk_tb(one.__traceback__)]
    ours = [(f, line) for f, line in frames if _owned(_module(f), frozenset(owners))]
    place = _place(*ours[-1]) if ours else ""
    called = any(frame.f_code.co_name in _CALLS for frame, _ in frames)
    text = reason(error)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    whole = "".join(traceback.format_exception(error))
    return Fault(text, place, _fix(error, place, called), whole, isinstance(error, WorldError))


def owners_of(part: type) -> frozenset[str]:
    """The packages that a part's classes are of; a part of rods itself owns its module alone."""
    modules = [kind.__module__ for kind in part.__mro__]
    roots = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names
    return frozenset(roots - {"rods"}) or frozenset({part.__module__})


def no_such_tool(name: str, known: Iterable[str]) -> str:
    """What is wrong with a call of a tool that the world has not."""
    hint = did_you_mean(name, known)
    return f"there is no tool {name[:80]!r}; {hint[:1].lower()}{hint[1:]} (Is @tool missing?)"


# ------------------------------------------------------------------------------- inside
def _chain(error: BaseException) -> Iterator[BaseException]:
    """The causes first, for what wraps an error is not where it was made."""
    if error.__cause__ is not None:
        yield from _chain(error.__cause__)
    yield error


def _owned(module: str, owners: frozenset[str]) -> bool:
    root = module.partition(".")[0]
    if owners:
        return root in owners or module in owners
    return root != "rods" and root not in sys.stdlib_module_names


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(frame: FrameType, line: int) -> str:
    """``my_world/world.py, line 31, in move_plant``."""
    file, parts = Path(frame.f_code.co_filename), _module(frame).split(".")
    folders = parts if file.stem == "__init__" else parts[:-1]
    return f"{'/'.join([*folders, file.name])}, line {line}, in {frame.f_code.co_name}"


def _fix(error: BaseException, place: str, called: bool) -> str:
    if isinstance(error, WorldError):
        return "an outage: see that what the world needs is there and answers, then check again"
    if not place:
        return "look at the traceback (--debug): what was given there is not what rods expects"
    if called:
        return (
            "mend that line; a call that cannot be is answered with Refused, or with "
            "ToolResult(..., error=True)"
        )
    return "mend that line"
