"""BFCL's function documents as tool specifications with JSON Schema parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rods.types import Effect, ToolSpec
from rods_bfcl.asset import Asset
from rods_bfcl.effects import READS
from rods_bfcl.upstream import CLASS_FILES

_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def load_toolspecs(asset: Asset) -> dict[str, dict[str, ToolSpec]]:
    """Class -> function name -> specification, in the order of the documents."""
    return {
        name: {
            str(document["name"]): _spec(document)
            for document in asset.lines(f"bfcl_eval/data/multi_turn_func_doc/{file}.json")
        }
        for name, file in CLASS_FILES.items()
    }


def _spec(document: Mapping[str, Any]) -> ToolSpec:
    name = str(document["name"])
    effect: Effect = "read" if name in READS else "write"
    return ToolSpec(
        name=name,
        description=document["description"],
        parameters=_schema(document["parameters"]),
        effect=effect,
    )


def _schema(documented: Mapping[str, Any]) -> dict[str, Any]:
    """BFCL's type names as JSON Schema's; a default given as the text "None" is null."""
    schema = dict(documented)
    schema["type"] = _TYPES.get(schema["type"], schema["type"])
    if "properties" in schema:
        schema["properties"] = {n: _schema(p) for n, p in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = _schema(schema["items"])
    if schema.get("default") == "None":
        schema["default"] = None
    return schema
