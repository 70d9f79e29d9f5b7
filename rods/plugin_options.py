"""What a plugin's parts can be told, read from their ``Config`` classes."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rods.plugin_manager import Plugins


def describe(plugins: Plugins, name: str) -> list[dict[str, Any]]:
    """The parts that plugin ``name`` registered, with every option of theirs, as plain JSON."""
    return [
        {
            "kind": kind,
            "name": component_name,
            "summary": (inspect.getdoc(registered.component) or "").split("\n")[0],
            "options": options(registered.component.Config),
        }
        for kind, components in plugins.components.items()
        for component_name, registered in components.items()
        if registered.plugin.name == name
    ]


def options(config: type[BaseModel], prefix: str = "") -> list[dict[str, Any]]:
    """Key, default, type and meaning of every field; a nested table's keys are dotted."""
    found = []
    for key, field in config.model_fields.items():
        nested = field.annotation
        if inspect.isclass(nested) and issubclass(nested, BaseModel):
            found += options(nested, f"{prefix}{key}.")
        else:
            found.append(_option(f"{prefix}{key}", field))
    return found


def _option(key: str, field: FieldInfo) -> dict[str, Any]:
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    return {
        "key": key,
        "required": field.is_required(),
        "default": _plain(default),
        "type": _type_name(field.annotation),
        "description": field.description or "",
    }


def _plain(value: Any) -> Any:
    """The value as TOML would show it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | int | float | str | None):
        return value
    return str(value)


def _type_name(annotation: Any) -> str:
    name = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    return name.replace("typing.", "").replace("pathlib.", "")
