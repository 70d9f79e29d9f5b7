"""Tools as methods: the signature is the schema, and nothing that does not fit it gets in."""

from __future__ import annotations

import enum
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from rods.types import JsonObject, ToolCall
from rods.worlds import JsonSession, Refused, tool

Level = Annotated[int, Field(ge=0, le=9, description="How bright.")]


class Lamps(JsonSession):
    """``lamps``: name -> level."""

    @tool("write")
    def dim(
        self, lamp: str, level: Level = 5, mode: Literal["soft", "hard"] = "soft"
    ) -> JsonObject:
        """Dim a lamp.

        Not shown.
        """
        if lamp not in self.data["lamps"]:
            raise Refused(f"There is no lamp {lamp[:40]!r}.")
        self.data["lamps"][lamp] = level
        return {"lamp": lamp, "level": level}

    @tool("read")
    def weather(self) -> str:
        """What is it like outside?"""
        return "dark"


class More(Lamps):
    """Inherits the tools."""

    @tool("write")
    def scale(self, factor: float, lamps: list[str]) -> list[str]:
        """Scale lamps."""
        return lamps


STATE: JsonObject = {"lamps": {"hall": 3}}


def call(name: str, **arguments: Any) -> tuple[str, bool]:
    session = More(STATE)
    result = session.call(ToolCall(name=name, arguments=arguments))
    assert not result.error or session.state() == STATE
    return result.content, result.error


def test_a_specification_is_the_signature() -> None:
    spec = Lamps.tools()["dim"]
    assert (spec.description, spec.effect, spec.required) == ("Dim a lamp.", "write", ("lamp",))
    level = {"type": "integer", "minimum": 0, "maximum": 9, "default": 5}
    assert spec.properties["level"] == {**level, "description": "How bright."}
    assert spec.properties["mode"]["enum"] == ["soft", "hard"]
    assert spec.parameters["additionalProperties"] is False
    assert Lamps.tools()["weather"].parameters["properties"] == {}


def test_tools_are_inherited_and_stay_in_order() -> None:
    assert list(More.tools()) == ["dim", "weather", "scale"]
    assert list(Lamps.tools()) == ["dim", "weather"]


def test_a_good_call_is_answered_as_json_or_as_it_is() -> None:
    assert call("dim", lamp="hall") == ('{"lamp": "hall", "level": 5}', False)
    assert call("weather") == ("dark", False)
    assert call("scale", factor=2, lamps=["hall"]) == ('["hall"]', False)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("fly", {}, "There is no tool 'fly'."),
        ("state", {}, "There is no tool 'state'."),
        ("dim", {}, "dim: lamp: Field required"),
        ("dim", {"lamp": "hall", "colour": "red"}, "dim: colour: Extra inputs"),
        ("dim", {"lamp": "hall", "level": 10}, "dim: level: Input should be less"),
        ("dim", {"lamp": "hall", "level": True}, "dim: level: Input should be a valid integer"),
        ("dim", {"lamp": "hall", "level": 3.0}, "dim: level: Input should be a valid integer"),
        ("dim", {"lamp": "hall", "level": 10**300}, "dim: level: Input should be"),
        ("dim", {"lamp": "hall", "mode": "loud"}, "dim: mode: Input should be 'soft' or 'hard'"),
        ("dim", {"lamp": "attic"}, "There is no lamp 'attic'."),
        ("scale", {"factor": float("nan"), "lamps": []}, "scale: factor: Input should be a finite"),
        ("scale", {"factor": 1, "lamps": [1]}, "scale: lamps.0: Input should be a valid string"),
    ],
)
def test_a_bad_call_is_an_error_that_says_why(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    content, error = call(name, **arguments)
    assert error
    assert content.startswith(said)


def test_a_fault_inside_a_tool_is_no_bad_call() -> None:
    class Faulty(JsonSession):
        @tool("read")
        def count(self) -> int:
            """Count."""
            return TypeAdapter(int).validate_python("many")

    with pytest.raises(ValidationError, match="many"):
        Faulty(STATE).call(ToolCall(name="count"))


def test_the_task_and_the_snapshot_never_change() -> None:
    session = Lamps(STATE)
    snapshot = session.snapshot()
    session.call(ToolCall(name="dim", arguments={"lamp": "hall", "level": 9}))
    assert STATE == {"lamps": {"hall": 3}}
    for _ in range(2):
        session.restore(snapshot)
        assert session.state() == STATE
        session.call(ToolCall(name="dim", arguments={"lamp": "hall", "level": 1}))


class Stairs(JsonSession):
    """``lamps``: name -> level; a tool that writes before it refuses, and one that says "read"."""

    @tool("write")
    def light_all(self, lamps: list[str]) -> int:
        """Light lamps."""
        for lamp in lamps:
            if lamp not in self.data["lamps"]:
                raise Refused(f"There is no lamp {lamp[:40]!r}.")
            self.data["lamps"][lamp] = 9
        return len(lamps)

    @tool("read")
    def lamps(self) -> set[str]:
        """Which lamps there are."""
        return set(self.data["lamps"])


def test_a_tool_that_writes_before_it_refuses_leaves_everything_as_it_was() -> None:
    session = Stairs(STATE)
    assert session.call(ToolCall(name="light_all", arguments={"lamps": ["hall", "no"]})).error
    assert session.state() == STATE
    assert not session.call(ToolCall(name="light_all", arguments={"lamps": ["hall"]})).error
    assert session.state() == {"lamps": {"hall": 9}}


def test_a_tool_that_gives_what_json_has_not_is_named() -> None:
    with pytest.raises(
        TypeError, match=r"tool 'lamps' gives a set that is not JSON .*: give a text"
    ):
        Stairs(STATE).call(ToolCall(name="lamps"))


def test_a_tool_without_an_effect_or_with_an_unknown_one_is_named() -> None:
    def look() -> str:
        """Look."""
        return ""

    with pytest.raises(TypeError, match=r"'look' has no effect: write @tool\(\"read\"\) or"):
        tool(look)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"'look' has the effect 'wirte': write @tool\(\"read\"\)"):
        tool("wirte")(look)  # type: ignore[arg-type]


class Own:
    """A class of the author's."""


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (Own, "Own"),
        (complex, "complex"),
        (set[int], "set[int]"),
        (list[tuple[int, int]], "list[tuple[int, int]]"),
        (Colour, "Colour"),
        (int | date, "int | datetime.date"),
    ],
)
def test_a_parameter_that_no_json_can_give_is_named_with_its_tool(kind: Any, shown: str) -> None:
    def look(self: object, what: object) -> str:
        """Look."""
        return ""

    look.__annotations__["what"] = kind
    with pytest.raises(TypeError) as raised:
        type("Odd", (JsonSession,), {"look": tool("read")(look)})
    said = f"The tool 'look' takes 'what' as {shown}, which JSON does not have: take str, int"
    assert str(raised.value).startswith(said)


def test_a_parameter_without_a_name_of_its_own_is_refused() -> None:
    with pytest.raises(TypeError, match=r"'look' takes 'what' as \*what: calls give"):

        class Listing(JsonSession):
            @tool("read")
            def look(self, *what: str) -> str:
                """Look."""
                return ""


def test_half_a_tool_fails_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="has no docstring"):

        class Silent(JsonSession):
            @tool("read")
            def look(self) -> str:
                return ""

    with pytest.raises(TypeError, match="has no type for what"):

        class Untyped(JsonSession):
            @tool("read")
            def look(self, what) -> str:  # type: ignore[no-untyped-def]
                """Look."""
                return ""

    with pytest.raises(TypeError, match="cannot be called 'state'"):

        class Shadowing(JsonSession):
            @tool("read")
            def state(self) -> JsonObject:
                """The state."""
                return {}
