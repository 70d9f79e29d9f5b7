"""States as JSON: equal exactly if the official state checker calls them equal."""

from __future__ import annotations

from typing import Any

from rods.types import JsonObject, JsonValue
from rods_bfcl.copying import copy_plain

# Attributes whose keys upstream turns into numbers; elsewhere keys are text.
_NUMBERED = frozenset({"orders", "tweets", "comments"})


def public_state(instance: Any) -> JsonObject:
    """The public attributes of an instance of an API class."""
    state: JsonObject = {}
    for name, value in vars(instance).items():
        if name[0] == "_":
            continue
        if name == "root":
            state[name] = {value.name: _directory(value)}
        elif isinstance(value, dict):
            numbered = name in _NUMBERED
            state[name] = {_key(k, numbered=numbered): v for k, v in copy_plain(value).items()}
        else:
            state[name] = sorted(value) if isinstance(value, set) else copy_plain(value)
    return state


def _directory(item: Any) -> JsonValue:
    if not hasattr(item, "contents"):
        return {"type": "file", "content": copy_plain(item.content)}
    return {
        "type": "directory",
        "contents": {name: _directory(child) for name, child in item.contents.items()},
    }


def _key(key: Any, *, numbered: bool) -> str:
    """Keys that differ stay different: among numbers, text stands in quotes, and the other way."""
    if isinstance(key, str):
        return repr(key) if numbered else key
    if isinstance(key, int | float) and key == int(key):
        key = int(key)
    return str(key) if numbered else f"<{key!r}>"


def comparable(instance: Any) -> dict[str, Any]:
    """The public attributes as they are, live, but for directories, which become plain dicts.

    Two of them are equal exactly if the official state checker calls the instances equal.
    """
    state = {name: value for name, value in vars(instance).items() if name[0] != "_"}
    if "root" in state:
        root = state["root"]
        state["root"] = {root.name: _contents(root)}
    return state


def _contents(directory: Any) -> dict[str, Any]:
    """Entry -> a file's text, or a directory's entries; a file without text stands in a tuple."""
    return {
        name: (item.content if type(item.content) is str else (item.content,))
        if type(item).__name__ == "File"
        else _contents(item)
        for name, item in directory.contents.items()
    }
