"""States as JSON: equal exactly if the official state checker calls them equal."""

from __future__ import annotations

from typing import Any

from rods.types import JsonObject, JsonValue

# Attributes whose keys upstream turns into numbers; elsewhere keys are text.
_NUMBERED = frozenset({"orders", "tweets", "comments"})


def public_state(instance: Any) -> JsonObject:
    """The public attributes of an instance of an API class."""
    state: JsonObject = {}
    for name, value in vars(instance).items():
        if name.startswith("_"):
            continue
        if name == "root":
            state[name] = {value.name: _directory(value)}
        else:
            state[name] = _json(value, numbered=name in _NUMBERED)
    return state


def _directory(item: Any) -> JsonValue:
    if not hasattr(item, "contents"):
        return {"type": "file", "content": _json(item.content)}
    return {
        "type": "directory",
        "contents": {name: _directory(child) for name, child in item.contents.items()},
    }


def _json(value: Any, *, numbered: bool = False) -> JsonValue:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {_key(k, numbered=numbered): _json(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return [_json(item) for item in sorted(value, key=repr)]
    return repr(value)


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
