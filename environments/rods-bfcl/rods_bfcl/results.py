"""The pool of results that a rollout has seen, and what a turn demands of it.

The official check compares texts. Writing a long result as JSON costs more than the call, so
results are compared in a binary form first: equal bytes mean equal texts. Only if that does not
settle the question are the texts written.
"""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rods_bfcl.rendering import render

Key = str | bytes  # the text itself, or a dict in marshal's format

_VERSION = 2  # of the format without back references: equal values of equal types, equal bytes


def key_of(value: Any) -> Key:
    """The key of a result; equal keys mean equal texts, though not the other way round."""
    if type(value) is dict:
        try:
            return marshal.dumps(value, _VERSION)
        except ValueError:  # it holds an object, or is too deep
            return render(value)
    return render(value)


def text_of(key: Key) -> str:
    """The text of the result that the key stands for."""
    return key if isinstance(key, str) else render(marshal.loads(key))


class Demand:
    """The results that a turn's reference gave: texts and how often."""

    __slots__ = ("_keys", "texts")

    def __init__(self, keys: Iterable[Key]) -> None:
        self._keys: Mapping[Key, int] = Counter(keys)
        self.texts: Mapping[str, int] = Counter(
            text for key, n in self._keys.items() for text in [text_of(key)] * n
        )

    def met_by(self, pool: Pool) -> bool:
        """All of them are in the pool."""
        for key, n in self._keys.items():
            if pool.keys.get(key, 0) < n:
                return pool.holds(self.texts)
        return True


class Pool:
    """All results of a rollout so far."""

    __slots__ = ("_texts", "_unwritten", "keys")

    def __init__(self) -> None:
        self.keys: dict[Key, int] = {}
        self._unwritten: list[Key] = []
        self._texts: Counter[str] = Counter()

    def add(self, key: Key) -> None:
        """One more result."""
        self.keys[key] = self.keys.get(key, 0) + 1
        self._unwritten.append(key)

    def holds(self, texts: Mapping[str, int]) -> bool:
        """Every text is there as often as asked for."""
        self._texts.update(text_of(key) for key in self._unwritten)
        self._unwritten.clear()
        return all(self._texts[text] >= n for text, n in texts.items())
