"""Functions that ask the context, put into their modules while any thread is inside one."""

from __future__ import annotations

import random
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rods.determinism.context import Determinism

Function = Callable[..., Any]
inside: ContextVar[tuple[Determinism, ...]] = ContextVar("rods_determinism", default=())


class Replaced(NamedTuple):
    """A function of a module, and what stands there while a context is open."""

    module: Any
    name: str
    real: Function
    asking: Function


class Switch:
    """Counts the open contexts of all threads."""

    def __init__(self) -> None:
        self._lock, self._open = threading.Lock(), 0
        self._there: Sequence[Replaced] = ()

    def enter(self) -> None:
        """One context more; numpy may have been loaded since the last one."""
        with self._lock:
            self._open += 1
            known = replacements()
            for one in known[len(self._there) :]:
                vars(one.module)[one.name] = one.asking
            self._there = known

    def leave(self) -> None:
        """One context less; with the last one the modules are as they were."""
        with self._lock:
            self._open -= 1
            if self._open:
                return
            for one in self._there:
                names = vars(one.module)
                if names.get(one.name) is one.asking:  # else it is somebody else's patch
                    names[one.name] = one.real
            self._there = ()


def replacements() -> Sequence[Replaced]:
    """What can be replaced now, always in the same order: numpy's part is last."""
    if "numpy" in sys.modules and len(_KNOWN) == _CORE:
        _KNOWN.extend(_numpy())
    return tuple(_KNOWN)


# ------------------------------------------------------------------------------- one function
def _asking(real: Function, ours: Callable[[Determinism], Function]) -> Function:
    """``real`` outside of every context; inside, what ``ours`` makes of the innermost one."""

    def ask(*arguments: Any, **options: Any) -> Any:
        stack = inside.get()
        return (ours(stack[-1]) if stack else real)(*arguments, **options)

    ask.__name__ = ask.__qualname__ = getattr(real, "__name__", "ask")
    ask.__doc__ = real.__doc__
    return ask


def _replaced(module: Any, name: str, ours: Callable[[Determinism], Function]) -> Replaced:
    real = getattr(module, name)
    return Replaced(module, name, real, _asking(real, ours))


def _drawn(module: Any, hidden: Any, stream: str) -> Iterator[Replaced]:
    """The functions of a module that draw from its hidden generator."""
    for name, real in list(vars(module).items()):
        if getattr(real, "__self__", None) is hidden:

            def ours(context: Determinism, name: str = name) -> Function:
                found: Function = getattr(getattr(context, stream), name)
                return found

            yield _replaced(module, name, ours)


def _dated(name: str, position: int, *, as_struct: bool) -> Replaced:
    """A function of ``time`` that takes a time at ``position``, else now; all zones are UTC."""
    real = getattr(time, name)
    now_of = {"localtime": time.gmtime, "ctime": time.asctime}.get(name, real)
    gmtime = time.gmtime

    def ours(context: Determinism) -> Function:
        def at(*arguments: Any) -> Any:
            if len(arguments) > position and arguments[position] is not None:
                return real(*arguments)
            now = gmtime(context.time()) if as_struct else context.time()
            return now_of(*arguments[:position], now)

        return at

    return _replaced(time, name, ours)


def _slept() -> Replaced:
    """Sleeps as long as it is told and moves the clock: a loop that waits for an hour ends."""
    real = time.sleep

    def ours(context: Determinism) -> Function:
        def sleep(seconds: float) -> None:
            real(seconds)
            context.advance(seconds)

        return sleep

    return _replaced(time, "sleep", ours)


# ------------------------------------------------------------------------------- all of them
def _core() -> Iterator[Replaced]:
    yield from _drawn(random, random.random.__self__, "random")  # type: ignore[attr-defined]
    yield _replaced(uuid, "uuid4", lambda context: context.uuid)
    yield _replaced(uuid, "uuid1", lambda context: lambda *node, **clock: context.uuid(1))
    yield _replaced(time, "time", lambda context: context.time)
    yield _replaced(time, "time_ns", lambda context: lambda: round(context.time() * 1e9))
    yield _slept()
    yield _dated("gmtime", 0, as_struct=False)
    yield _dated("localtime", 0, as_struct=False)
    yield _dated("ctime", 0, as_struct=True)
    yield _dated("asctime", 0, as_struct=True)
    yield _dated("strftime", 1, as_struct=True)


def _numpy() -> Iterator[Replaced]:
    numpy: Any = import_module("numpy.random")  # numpy itself loads it when it is first used
    yield from _drawn(numpy, numpy.random.__self__, "numpy")
    real = numpy.default_rng

    def ours(context: Determinism) -> Function:
        def default_rng(seed: Any = None) -> Any:
            return real(context.numpy.randint(2**32, size=4) if seed is None else seed)

        return default_rng

    yield _replaced(numpy, "default_rng", ours)


_KNOWN: list[Replaced] = list(_core())
_CORE = len(_KNOWN)
SWITCH = Switch()
