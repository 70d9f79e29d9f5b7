"""What tuning has paid for, line by line: a resumed search repeats its steps from here."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from rods.digests import digest
from rods.errors import DataError
from rods.files import append_line, read_lines, repair_lines


class Journal:
    """Answers by question. The search is deterministic, so equal questions come in equal order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}
        repair_lines(path)  # a killed process may leave half a line
        for line in read_lines(path):
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
            append_line(self._path, json.dumps({"key": key, "answer": answer}, ensure_ascii=False))


def _key(question: tuple[Any, ...]) -> str:
    return digest(question, digits=32)
