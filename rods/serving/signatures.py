"""A JSON Schema as the signature and the Google docstring of a Python function.

Trainers that read tools from functions (``transformers.utils.get_json_schema``) find the schema
again. What Python types cannot say (ranges, patterns, the fields of an object) goes into the words.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Union

from rods.types import ToolSpec

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
_SAID = frozenset({"type", "enum", "const", "items", "anyOf", "oneOf", "$ref"})  # by the type
_UNSAID = frozenset({"description", "title"})
_SECTION = re.compile(r"(Args|Returns|Raises):")  # would begin a part of the docstring
_CHOICES = re.compile(r"\(choices:[^\n]*\)$", re.IGNORECASE)  # would be read as JSON


@dataclass(frozen=True, slots=True)
class Shape:
    """What a function needs to look like the tool. ``names``: parameter -> its name in the tool."""

    signature: inspect.Signature
    annotations: dict[str, Any]
    docstring: str
    names: Mapping[str, str]
    nullable: frozenset[str]  # parameters of the tool that take null


def shape(spec: ToolSpec) -> Shape:
    """The shape of a method that is called with the tool's arguments by name."""
    definitions = spec.parameters.get("$defs") or {}
    names = {python_name(name, {"self"}): name for name in spec.properties}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    annotations: dict[str, Any] = {}
    for own, name in names.items():
        hint = python_type(spec.properties[name], definitions)
        needed = name in spec.required
        annotations[own] = hint if needed or hint is Any else Union[hint, None]  # noqa: UP007
        default = inspect.Parameter.empty if needed else None
        parameters.append(_parameter(own, annotations[own], default))
    return Shape(
        signature=inspect.Signature(parameters, return_annotation=str),
        annotations={**annotations, "return": str},
        docstring=_docstring(spec, names),
        names=names,
        nullable=frozenset(n for n, s in spec.properties.items() if _takes_null(s, definitions)),
    )


def python_name(name: str, taken: Iterable[str] = ()) -> str:
    """The nearest name that Python takes, and that is not taken; public."""
    near = re.sub(r"\W", "_", name).lstrip("_") or "tool"
    if near[0].isdigit():
        near = f"tool_{near}"
    while keyword.iskeyword(near) or near in taken:
        near += "_"
    return near


def python_type(schema: Any, definitions: Any) -> Any:
    """The annotation that says most of what the schema says; Any where Python has no words."""
    if not isinstance(schema, Mapping):
        return Any
    if reference := schema.get("$ref"):  # a schema may hold itself: its inside is only named
        inner = _defined(reference, definitions)
        return dict if "properties" in inner else python_type(inner, {})
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values and all(v is None or type(v) in (str, int, bool, float) for v in values):
        return Literal[tuple(values)]
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return _any_of(python_type(part, definitions) for part in parts)
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return _any_of(python_type({**schema, "type": kind}, definitions) for kind in kinds)
    if kinds == "array" and "items" in schema:
        return list[python_type(schema["items"], definitions)]  # type: ignore[misc]
    return _TYPES.get(str(kinds), Any)


def _any_of(hints: Iterable[Any]) -> Any:
    found = tuple(hints)
    return Any if Any in found else Union[found]  # noqa: UP007


def _defined(reference: Any, definitions: Any) -> Mapping[str, Any]:
    found = definitions.get(str(reference).rpartition("/")[2]) if definitions else None
    return found if isinstance(found, Mapping) else {}


def _takes_null(schema: Any, definitions: Any) -> bool:
    hint = python_type(schema, definitions)
    return hint is Any or type(None) in (hint, *getattr(hint, "__args__", ()))


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY  # so that any of them may have a default
    return inspect.Parameter(name, kind, annotation=hint, default=default)


# ------------------------------------------------------------------------------- words
def _docstring(spec: ToolSpec, names: Mapping[str, str]) -> str:
    """Description and ``Args:``, each parameter on one line that no parser cuts."""
    definitions = spec.parameters.get("$defs") or {}
    lines = [_plain(spec.description) or f"{spec.name}."]
    if names:
        lines += ["", "Args:"]
    for own, name in names.items():
        schema = spec.properties[name]
        schema = schema if isinstance(schema, Mapping) else {}
        words = _plain(str(schema.get("description") or "")) or f"The {name}."
        lines.append(f"    {own}: {_closed(words + _rest(schema, definitions))}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    return _SECTION.sub(r"\1 -", " ".join(text.split()))


def _closed(words: str) -> str:
    return f"{words}." if _CHOICES.search(words) else words


def _rest(schema: Mapping[str, Any], definitions: Any) -> str:
    """What the type leaves out, as JSON behind the description."""
    inner = _defined(schema["$ref"], definitions) if "$ref" in schema else schema
    left = {key: value for key, value in inner.items() if key not in _SAID | _UNSAID}
    for key in ("items", "anyOf", "oneOf"):
        if key in inner and '"properties"' in json.dumps(inner[key]):
            left[key] = inner[key]
    return f" {_plain(json.dumps(left, ensure_ascii=False))}" if left else ""
