"""What a value or a file is, in a few characters: SHA-256 over one canonical form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20


def canonical_json(value: Any, *, default: Callable[[Any], Any] | None = None) -> str:
    """The JSON text of a value that does not depend on the order in which its keys were set.

    ``default`` gives something that JSON can hold for what it cannot; without it, a TypeError.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=default
    )


def digest(value: Any, *, digits: int = 64, default: Callable[[Any], Any] | None = None) -> str:
    """The first hex digits of the SHA-256 of a value's canonical JSON."""
    return text_digest(canonical_json(value, default=default), digits=digits)


def text_digest(text: str, *, digits: int = 64) -> str:
    """The first hex digits of the SHA-256 of a text; half a surrogate pair is no error."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def file_digest(path: Path) -> str:
    """SHA-256 of a file that may be large, 64 hex digits."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha.update(chunk)
    return sha.hexdigest()
