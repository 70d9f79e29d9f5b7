"""What tuning has paid for, line by line: a resumed search repeats its steps from here."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rods.errors import DataError


class Journal:
    """Answers by question. The search is deterministic, so equal questions come in equal order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}
        for line in _whole_lines(path):
            self._known[line["key"]] = line["answer"]

    def begin(self, settings: dict[str, Any]) -> None:
        """Remember what the answers depend on; a DataError if it was something else before."""
        found = self.get("settings")
        if found is not None and found != settings:
            differing = [key for key in settings if settings[key] != found.get(key)]
            raise DataError(
                f"{self._path} belongs to another tuning (its {', '.join(differing)} differ); "
                "give the same settings, or another --out."
            )
        if found is None:
            self.put("settings", answer=settings)

    def get(self, *question: Any) -> Any:
        """The answer, None where there is none yet."""
        return self._known.get(_key(question))

    def put(self, *question: Any, answer: Any) -> None:
        """Keep an answer, on the disk when this returns."""
        key = _key(question)
        with self._lock:
            self._known[key] = answer
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "answer": answer}, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())


def _whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records; the last line of a process that was killed may lack its end."""
    text = path.read_bytes() if path.exists() else b""
    whole, _, rest = text.rpartition(b"\n")
    if rest:
        path.write_bytes(whole + b"\n" if whole else b"")
    for line in whole.splitlines():
        yield json.loads(line)


def _key(question: tuple[Any, ...]) -> str:
    text = json.dumps(question, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
