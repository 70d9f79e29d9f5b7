"""The short way to a world: its state is one JSON object, and its tools are methods.

::

    class Lamps(JsonSession):
        @tool("write")
        def switch(self, lamp: str, on: bool) -> JsonObject:
            \"\"\"Switch a lamp on or off.\"\"\"
            if lamp not in self.data["lamps"]:
                raise Refused(f"There is no lamp {lamp[:40]!r}.")
            self.data["lamps"][lamp] = on
            return {"lamp": lamp, "on": on}

``Lamps.tools()`` are its specifications: the signature is the schema, and checks every call. A tool
that raises ``Refused`` leaves ``self.data`` as it was, whatever it has written there before.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import inspect
import json
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, PydanticUserError, ValidationError, create_model

from rods.interfaces import Session
from rods.types import Effect, JsonObject, ToolCall, ToolResult, ToolSpec

logger = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__rods_effect__"
_NOT_JSON = (  # pydantic has schemas for these, but no JSON value is one of them
    set,
    frozenset,
    tuple,
    complex,
    bytes,
    bytearray,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    enum.Enum,
    uuid.UUID,
)
_JSON_TYPES = "take str, int, float, bool, list, dict or Literal"
_OWN_NAMES = frozenset({"call", "close", "data", "restore", "snapshot", "state", "tools"})


class Refused(Exception):  # noqa: N818 - an answer to the policy, not a fault of the world
    """A call that fits its schema and still cannot be: the policy reads why."""


def tool(effect: Effect) -> Callable[[F], F]:
    """The decorated method is a tool; its docstring's first line is the description.

    ``effect`` is "read" for a tool that changes nothing, "write" for one that may.
    """
    if callable(effect):  # @tool without parentheses: what is decorated came as the effect
        name = getattr(effect, "__name__", "")
        raise TypeError(f'The tool {name!r} has no effect: write @tool("read") or @tool("write").')

    def mark(function: F) -> F:
        if effect not in get_args(Effect):
            known = " or ".join(f'@tool("{one}")' for one in get_args(Effect))
            name = function.__name__
            raise TypeError(f"The tool {name!r} has the effect {effect!r}: write {known}.")
        setattr(function, _MARK, effect)
        return function

    return mark


class Arguments(BaseModel):
    """Base of the validators: JSON types as they are, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class _Tool:
    spec: ToolSpec
    validator: type[Arguments]


class JsonSession(Session):
    """A world that is ``self.data``; subclasses add tools. A bad call never reaches a tool.

    A call that a tool refuses changes nothing: ``data`` is put back to what it was before the call.
    That holds for tools that may write, and for ``data`` alone, not for other attributes.
    """

    _tools: ClassVar[Mapping[str, _Tool]] = {}

    def __init__(self, initial_state: JsonObject) -> None:
        self.data: dict[str, Any] = copy.deepcopy(initial_state)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        found = {name: member for name, member in vars(cls).items() if hasattr(member, _MARK)}
        if taken := sorted(found.keys() & _OWN_NAMES):
            raise TypeError(f"A tool cannot be called {taken[0]!r}: sessions have that already.")
        cls._tools = {**cls._tools, **{name: _made(found[name]) for name in found}}

    @classmethod
    def tools(cls) -> Mapping[str, ToolSpec]:
        """The specifications of all tools, in the order in which they are written."""
        return {name: made.spec for name, made in cls._tools.items()}

    def call(self, call: ToolCall) -> ToolResult:
        """Run a tool: its text as it is, anything else as JSON; a bad call is an error."""
        made = self._tools.get(call.name)
        if made is None:
            return ToolResult(content=f"There is no tool {call.name[:40]!r}.", error=True)
        try:
            arguments = dict(made.validator.model_validate(call.arguments))
        except ValidationError as error:
            return ToolResult(content=f"{call.name}: {_misfit(error)}", error=True)
        before = None if made.spec.effect == "read" else copy.deepcopy(self.data)
        try:
            result = getattr(self, call.name)(**arguments)
        except Refused as error:
            self.data = self.data if before is None else before
            return ToolResult(content=str(error), error=True)
        return ToolResult(content=_text(call.name, result))

    def state(self) -> JsonObject:
        """A copy of everything; override it where something must not be compared."""
        return copy.deepcopy(self.data)

    def snapshot(self) -> Any:
        """A copy of everything."""
        return copy.deepcopy(self.data)

    def restore(self, snapshot: Any) -> None:
        """Everything as it was; the snapshot can be used again."""
        self.data = copy.deepcopy(snapshot)


# ------------------------------------------------------------------------------- inside
def _made(function: Callable[..., Any]) -> _Tool:
    name = function.__name__
    lines = (inspect.getdoc(function) or "").splitlines()
    if not lines:
        raise TypeError(f"The tool {name!r} has no docstring, which the policy would read.")
    fields = _fields(function)
    validator = create_model(name, __base__=Arguments, **fields)
    spec = ToolSpec(
        name=name,
        description=lines[0],
        parameters=_schema(validator),
        effect=getattr(function, _MARK),
    )
    return _Tool(spec, validator)


def _fields(function: Callable[..., Any]) -> dict[str, Any]:
    """Parameter -> its type and its default, as pydantic wants them."""
    tool_name = function.__name__
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"The tool {tool_name!r} has a type that is not there: {error}.") from error
    parameters = list(inspect.signature(function).parameters.values())[1:]  # without self
    if bare := [p.name for p in parameters if p.name not in hints]:
        raise TypeError(f"The tool {tool_name!r} has no type for {', '.join(bare)}.")
    for parameter in parameters:
        if problem := _type_problem(parameter, hints[parameter.name]):
            raise TypeError(f"The tool {tool_name!r} takes {parameter.name!r} {problem}.")
    missing = inspect.Parameter.empty
    return {p.name: (hints[p.name], ... if p.default is missing else p.default) for p in parameters}


def _type_problem(parameter: inspect.Parameter, hint: Any) -> str:
    """Why no call could give the parameter; empty: it is of JSON, by name."""
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        shown = str(parameter).partition(":")[0]
        return f"as {shown}: calls give each argument by the name of a parameter"
    odd = any(issubclass(leaf, _NOT_JSON) for leaf in _leaves(hint) if isinstance(leaf, type))
    try:
        if not odd:
            create_model("probe", value=(hint, ...)).model_json_schema()
            return ""
    except PydanticUserError as error:  # such as a class of the author's own
        logger.debug("No JSON Schema of %s: %s", hint, error)
    shown = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return f"as {shown}, which JSON does not have: {_JSON_TYPES}"


def _leaves(hint: Any) -> Iterator[Any]:
    """The classes that a type is made of: ``list`` and ``int`` of ``list[int]``."""
    origin = get_origin(hint)
    if origin is Literal:
        return
    if origin is Annotated:
        yield from _leaves(get_args(hint)[0])
        return
    yield origin or hint
    for part in get_args(hint):
        yield from _leaves(part)


def _text(name: str, result: Any) -> str:
    """What a tool gave, as the policy reads it."""
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"The tool {name!r} gives a {type(result).__name__} that is not JSON ({error}): give "
            "a text, or numbers, lists and dicts of them."
        ) from error


def _schema(model: type[BaseModel]) -> JsonObject:
    """The model's JSON Schema as tools show it: without pydantic's titles."""
    schema = {"type": "object", "properties": {}, "required": [], **model.model_json_schema()}
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    kept["properties"] = {
        name: {key: value for key, value in part.items() if key != "title"}
        for name, part in schema["properties"].items()
    }
    return cast(JsonObject, kept)


def _misfit(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where[:40]}: {first['msg'][:120]}"
