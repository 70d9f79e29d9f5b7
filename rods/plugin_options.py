"""What a plugin's parts can be told, read from their ``Config`` classes."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rods.interfaces import Environment
from rods.plugin_manager import Plugins


def describe(plugins: Plugins, name: str) -> list[dict[str, Any]]:
    """The parts that plugin ``name`` registered, with every option of theirs, as plain JSON."""
    return [
        {
            "kind": kind,
            "name": component_name,
            "summary": (inspect.getdoc(registered.component) or "").split("\n")[0],
            "capabilities": _capabilities(registered.component),
            "options": options(registered.component.Config),
        }
        for kind, components in plugins.components.items()
        for component_name, registered in components.items()
        if registered.plugin.name == name
    ]


def _capabilities(component: type[Any]) -> dict[str, str]:
    """What a world says of itself; nothing of any other part."""
    if not issubclass(component, Environment):
        return {}
    return {"snapshots": component.snapshots, "determinism": component.determinism}


def options(
    config: type[BaseModel], prefix: str = "", defaults: BaseModel | None = None
) -> list[dict[str, Any]]:
    """Key, default, type and meaning of every field; a nested table's keys are dotted.

    ``defaults`` is what the table holds where it is not set, if it differs from its class.
    """
    found = []
    for key, field in config.model_fields.items():
        default = getattr(defaults, key) if defaults is not None else _default(field)
        nested, optional = _nested(field.annotation)
        if nested is None or optional:
            found.append(_option(f"{prefix}{key}", field, default))
        if nested is not None:
            held = default if isinstance(default, nested) else None
            found += options(nested, f"{prefix}{key}.", held)
    return found


def _default(field: FieldInfo) -> Any:
    return None if field.is_required() else field.get_default(call_default_factory=True)


def _nested(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The table that a field is, and whether it may be absent."""
    arms = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    tables = [arm for arm in arms if inspect.isclass(arm) and issubclass(arm, BaseModel)]
    return (tables[0] if tables else None), len(arms) > 1


def _option(key: str, field: FieldInfo, default: Any) -> dict[str, Any]:
    return {
        "key": key,
        "required": field.is_required(),
        "default": _plain(default),
        "type": _type_name(field.annotation),
        "description": field.description or "",
    }


def _plain(value: Any) -> Any:
    """The value as TOML would show it."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, bool | int | float | str | None):
        return value
    return str(value)


def _type_name(annotation: Any) -> str:
    """The annotation as written, without modules."""
    if inspect.isclass(annotation) and not get_args(annotation):
        return annotation.__name__
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(annotation))
