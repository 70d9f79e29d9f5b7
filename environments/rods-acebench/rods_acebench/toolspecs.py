"""ACEBench's function documents as tool specifications with JSON Schema parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rods.types import Effect, ToolSpec

_TYPES = {"dict": "object", "list": "array", "float": "number", "int": "integer", "bool": "boolean"}
_READS = ("get_", "view_", "search_", "check_", "find_")


def read_toolspecs(entries: Iterable[Mapping[str, Any]]) -> dict[str, ToolSpec]:
    """Function -> specification over all tasks; the first document of a name counts."""
    specs: dict[str, ToolSpec] = {}
    for entry in entries:
        for document in entry["function"]:
            specs.setdefault(str(document["name"]), _spec(document))
    return specs


def _spec(document: Mapping[str, Any]) -> ToolSpec:
    name = str(document["name"])
    effect: Effect = "read" if name.startswith(_READS) else "write"
    parameters = _schema(document.get("parameters") or {})
    parameters.setdefault("type", "object")
    return ToolSpec(
        name=name,
        description=str(document.get("description") or name),
        parameters=parameters,
        effect=effect,
    )


def _schema(documented: Mapping[str, Any]) -> dict[str, Any]:
    """ACEBench's type names as JSON Schema's; a type that is none is left out."""
    schema = dict(documented)
    kind = schema.pop("type", None)
    if isinstance(kind, str):
        schema["type"] = _TYPES.get(kind, kind)
    if isinstance(schema.get("properties"), dict):
        schema["properties"] = {n: _schema(p) for n, p in schema["properties"].items()}
        known = schema["properties"]
        schema["required"] = [n for n in schema.get("required") or [] if n in known]
    if isinstance(schema.get("items"), dict):
        schema["items"] = _schema(schema["items"])
    return schema
