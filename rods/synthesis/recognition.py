"""What a value looks like, and what words a seed's world holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from rods.structure.leaves import Scalar, walk
from rods.structure.sources import holds
from rods.structure.trace import Trace
from rods.synthesis.fresh import FIRST_NAMES
from rods.types import JsonObject, Task

_WORDS = re.compile(r"\w+")
_CLOCK = re.compile(r"\d{1,2}[/:]\d{2}")


def state_values(state: Any) -> Iterator[Scalar]:
    """Leaves and keys of a JSON value."""
    if isinstance(state, dict):
        for key, item in state.items():
            yield key
            yield from state_values(item)
    elif isinstance(state, list):
        for item in state:
            yield from state_values(item)
    else:
        yield state


def world_words(task: Task, trace: Trace) -> frozenset[str]:
    """Lower-case words and whole values of texts, state, arguments and results."""
    texts = [*(turn.user for turn in task.turns), *trace.contents, *task.tools]
    values = [str(v) for v in state_values(task.initial_state)]
    values += [str(leaf) for call in trace.calls for _, leaf in walk(dict(call.arguments))]
    everything = "\n".join((*texts, *values)).lower()
    words = set(_WORDS.findall(everything))
    parts = {part for word in words if "_" in word for part in word.split("_")}
    return frozenset(words.union(parts, (value.lower() for value in values)))


def json_text(value: str) -> str:
    """The string as it stands inside JSON."""
    plain = value.isascii() and value.isprintable() and not ('"' in value or "\\" in value)
    return value if plain else json.dumps(value)[1:-1]


def state_keys(state: Any) -> Iterator[str]:
    """All keys of a JSON value, each as often as it occurs."""
    if isinstance(state, dict):
        yield from state
    for item in state.values() if isinstance(state, dict) else state:
        if isinstance(item, dict | list):
            yield from state_keys(item)


def listed(schema: JsonObject, value: str) -> bool:
    """The parameter's documentation names the value: it is one of a closed set."""
    parts = [schema, schema.get("items")]
    for part in parts:
        if isinstance(part, dict):
            enum = part.get("enum")
            if isinstance(enum, list) and value in enum:
                return True
            if holds(str(part.get("description", "")), value):
                return True
    return False


def entity(value: str) -> bool:
    """Looks like a name or an id rather than a status word."""
    if _CLOCK.fullmatch(value):
        return False
    if any(ch.isdigit() or ch in "_.@#" for ch in value) or " " in value.strip():
        return len(value) > 3
    return value[:1].isupper() and not value.isupper() and any(ch.isupper() for ch in value[1:])


def opaque(value: str) -> bool:
    """An id: no word that could mean something, or digits enough to be one."""
    return sum(ch.isdigit() for ch in value) >= 3 and " " not in value


def marked(value: str) -> bool:
    """Written as no plain word is: with an extension, an underscore or a digit."""
    return " " not in value and any(ch.isdigit() or ch in "_." for ch in value)


def phrase(value: str) -> bool:
    """A title or sentences: words without digits that are no person's name."""
    words = value.split()
    if len(words) == 2 and words[0].lower() in FIRST_NAMES:
        return False
    return len(words) >= 2 and not any(ch.isdigit() for ch in value) and "\n" not in value
