"""Modules whose own names ask the context: for code that says ``from datetime import datetime``."""

from __future__ import annotations

import datetime as real
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from rods.determinism.switch import inside, replacements


class _Kind(type):
    """The real class's instances and subclasses count as those of the following one."""

    def _now(cls) -> real.datetime | None:
        """The innermost context's time, in UTC."""
        stack = inside.get()
        return real.datetime.fromtimestamp(stack[-1].time(), real.UTC) if stack else None

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.__mro__[1])


class FollowedDatetime(real.datetime, metaclass=_Kind):
    """``datetime`` whose now is the context's; it makes plain datetimes."""

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        return real.datetime(*arguments, **options)

    @classmethod
    def now(cls, tz: real.tzinfo | None = None) -> Any:
        """The context's time; in UTC where no zone is asked for."""
        now = cls._now()
        if now is None:
            return real.datetime.now(tz)
        return now.replace(tzinfo=None) if tz is None else now.astimezone(tz)

    @classmethod
    def today(cls) -> Any:
        """As ``now``."""
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        """As ``now``, without a zone."""
        return cls.now(real.UTC).replace(tzinfo=None)


class FollowedDate(real.date, metaclass=_Kind):
    """``date`` whose today is the context's; it makes plain dates."""

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        return real.date(*arguments, **options)

    @classmethod
    def today(cls) -> Any:
        """The context's day, in UTC."""
        now = cls._now()
        return real.date.today() if now is None else now.date()


class FollowedModule(ModuleType):
    """``datetime`` with other classes of these two names, all else as it is."""

    def __init__(self, clock: type[real.datetime], day: type[real.date]) -> None:
        super().__init__("datetime")
        self.datetime, self.date = clock, day

    def __getattr__(self, name: str) -> Any:
        return getattr(real, name)


_MODULE = FollowedModule(FollowedDatetime, FollowedDate)


def follow(module: ModuleType) -> None:
    """The functions and classes of time and chance that ``module`` holds ask the context, for good.

    Outside of every context they do what they did before.
    """
    for name, new in _changes(module):
        setattr(module, name, new)


@contextmanager
def following(modules: Iterable[ModuleType]) -> Iterator[None]:
    """As ``follow``, until the end of the block. Of all threads: it is meant for tests."""
    kept: list[tuple[ModuleType, str, Any, Any]] = []
    try:
        for module in modules:
            for name, new in _changes(module):
                kept.append((module, name, getattr(module, name), new))
                setattr(module, name, new)
        yield
    finally:
        for module, name, old, new in kept:
            if getattr(module, name, None) is new:
                setattr(module, name, old)


def package_modules(name: str) -> list[ModuleType]:
    """The loaded modules of the top-level package that the module ``name`` is in."""
    top = name.partition(".")[0]
    loaded = list(sys.modules.items())
    return [m for n, m in loaded if n.partition(".")[0] == top and isinstance(m, ModuleType)]


def _changes(module: ModuleType) -> list[tuple[str, Any]]:
    asking: dict[int, Any] = {id(one.real): one.asking for one in replacements()}
    classes = {real.datetime: FollowedDatetime, real.date: FollowedDate}
    asking |= {id(old): new for old, new in classes.items()} | {id(real): _MODULE}
    held = list(vars(module).items())
    return [(name, asking[id(value)]) for name, value in held if id(value) in asking]
