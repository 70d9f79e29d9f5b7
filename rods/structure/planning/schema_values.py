"""What a schema says of a parameter's values, in its keywords or in its description."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LISTED = re.compile(
    r"(?:\[Enum\]|[Oo]ptions(?: are)?|[Oo]ne of|[Pp]ossible values(?: are)?)\s*:?\s*(.+)"
)
_QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
_GLOSSED = re.compile(r"['\"](\w+)['\"] for ")
_EITHER = re.compile(r"\((\w+)/(\w+)\)")
_WORDING = re.compile(
    r"content|message|text|description|title|comment|body|note|summary|reason|resolution|subject"
)


def documented(schema: Mapping[str, Any]) -> list[Any]:
    """The closed set of values that the schema or its description names; empty: none."""
    items = schema.get("items")
    for part in (schema, items if isinstance(items, dict) else {}):
        if part.get("enum"):
            return list(part["enum"])
    text = str(schema.get("description", ""))
    if found := _LISTED.search(text):
        return _named(found[1])
    if len(glossed := _GLOSSED.findall(text)) > 1:
        return list(glossed)
    if found := _EITHER.search(text):
        return [found[1], found[2]]
    return []


def _named(text: str) -> list[str]:
    if quoted := _QUOTED.findall(text):
        return list(dict.fromkeys(quoted))
    first = text.split(".")[0]
    names = [part.strip(" []'\"`") for part in re.split(r",|\bor\b|\|", first)]
    names = [name for name in names if name and len(name) < 25 and " " not in name]
    return names if len(names) > 1 else []


def kind_of(schema: Mapping[str, Any]) -> str:
    """The JSON type; text where the schema names none."""
    named = schema.get("type", "string")
    if isinstance(named, list):
        named = next((n for n in named if n != "null"), "string")
    return str(named)


def item_kind(schema: Mapping[str, Any]) -> str:
    """The JSON type of a list's items."""
    items = schema.get("items")
    return kind_of(items) if isinstance(items, dict) else "string"


def names_text(parameter: str) -> bool:
    """The parameter's name promises prose rather than a name or an id."""
    return bool(_WORDING.search(parameter.lower()))
