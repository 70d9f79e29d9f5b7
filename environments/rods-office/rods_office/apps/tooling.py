"""How a function becomes a tool: its signature is the schema, the validator and the type map."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from rods.types import Effect, JsonObject, ToolSpec
from rods_office.state import State


@dataclass(frozen=True, slots=True)
class Entity:
    """What a value names; stands in the annotation of a parameter or a result."""

    kind: str


def _text(description: str) -> Any:
    return Field(min_length=1, max_length=80, description=description)


FileName = Annotated[str, Entity("file"), _text("Name of a file.")]
Text = Annotated[str, Entity("text"), _text("Any text.")]
Person = Annotated[str, Entity("person"), _text("Name of a person.")]
Phone = Annotated[str, Entity("phone"), Field(pattern="^[0-9]{3}$", description="Three digits.")]
Title = Annotated[str, Entity("title"), _text("Title of an event.")]
EventId = Annotated[
    str, Entity("event"), Field(pattern="^e[0-9]{2}$", description="Id of an event.")
]
Day = Annotated[int, Entity("day"), Field(ge=1, le=365, description="Day of the year.")]
Thing = Annotated[str, Entity("thing"), _text("Name of an item.")]
ItemId = Annotated[str, Entity("item"), Field(pattern="^i[0-9]{2}$", description="Id of an item.")]
OrderId = Annotated[
    str, Entity("order"), Field(pattern="^o[0-9]{2}$", description="Id of an order.")
]
Count = Annotated[int, Entity("count"), Field(ge=1, le=9, description="How many, 1 to 9.")]
AccountId = Annotated[
    str, Entity("account"), Field(pattern="^a[0-9]{2}$", description="Id of an account.")
]
Amount = Annotated[int, Entity("amount"), Field(ge=1, le=999, description="Money, 1 to 999.")]

Function = Callable[..., str]


class Arguments(BaseModel):
    """Base of the validators: JSON types as they are, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function over the state, its specification and what its values name.

    ``entities`` maps parameters to kinds in the order of the schema; ``gives`` is the kind of the
    result, empty where it names nothing.
    """

    name: str
    run: Function
    spec: ToolSpec
    validator: type[Arguments]
    entities: Mapping[str, str]
    gives: str = ""
    held_out: bool = False

    def arguments(self, given: JsonObject) -> dict[str, Any]:
        """The arguments, checked against the schema; ValueError says what is wrong with them."""
        try:
            checked = self.validator.__pydantic_validator__.validate_python(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ValueError(f"bad {where}"[:60]) from error
        return dict(checked.__dict__)


@dataclass(slots=True)
class App:
    """The tools of one app, in the order in which they are written."""

    name: str
    tools: list[Tool] = field(default_factory=list)

    def tool(self, effect: Effect, *, held_out: bool = False) -> Callable[[Function], Function]:
        """Register the decorated function; its docstring's first line is the description."""

        def register(function: Function) -> Function:
            self.tools.append(_tool(function, effect, held_out))
            return function

        return register


def _tool(function: Function, effect: Effect, held_out: bool) -> Tool:
    hints = get_type_hints(function, include_extras=True)
    gives = _kind(hints.pop("return"))
    hints.pop("state")
    fields: dict[str, Any] = {name: (hint, ...) for name, hint in hints.items()}
    validator = create_model(function.__name__, __base__=Arguments, **fields)
    spec = ToolSpec(
        name=function.__name__,
        description=(inspect.getdoc(function) or "").splitlines()[0],
        parameters=_schema(validator),
        effect=effect,
    )
    entities = {name: _kind(hint) for name, hint in hints.items()}
    return Tool(spec.name, function, spec, validator, entities, gives, held_out)


def _kind(hint: Any) -> str:
    return next((m.kind for m in get_args(hint)[1:] if isinstance(m, Entity)), "")


def _schema(model: type[BaseModel]) -> JsonObject:
    """The model's JSON Schema without the titles that pydantic adds."""
    schema: dict[str, Any] = model.model_json_schema()
    for part in schema["properties"].values():
        del part["title"]
    return {
        "type": "object",
        "properties": schema["properties"],
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


__all__ = [
    "AccountId", "Amount", "App", "Count", "Day", "Entity", "EventId", "FileName", "ItemId",
    "OrderId", "Person", "Phone", "State", "Text", "Thing", "Title", "Tool",
]  # fmt: skip
