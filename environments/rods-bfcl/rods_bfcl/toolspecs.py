"""BFCL's function documents as tool specifications with JSON Schema parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rods.types import Effect, ToolSpec
from rods_bfcl.asset import Asset
from rods_bfcl.effects import READS
from rods_bfcl.upstream import CLASS_FILES

_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def load_toolspecs(asset: Asset) -> dict[str, dict[str, ToolSpec]]:
    """Class -> function name -> specification, in the order of the documents."""
    return {
        name: read_document(
            asset, f"bfcl_eval/data/multi_turn_func_doc/{file}.json", READS.__contains__
        )
        for name, file in CLASS_FILES.items()
    }


def read_document(
    asset: Asset, member: str, is_read: Callable[[str], bool], hint: str = ""
) -> dict[str, ToolSpec]:
    """Function name -> specification; ``hint`` is added to every description."""
    documents: Sequence[Mapping[str, Any]] = asset.lines(member)
    return {str(d["name"]): _spec(d, is_read(str(d["name"])), hint) for d in documents}


def _spec(document: Mapping[str, Any], reads: bool, hint: str) -> ToolSpec:
    effect: Effect = "read" if reads else "write"
    return ToolSpec(
        name=str(document["name"]),
        description=f"{document['description']}{hint}",
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
