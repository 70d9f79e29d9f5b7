"""transformers reads the schema back from the function that was made of it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from rods.serving.signatures import python_name, shape
from rods.testing import FakeEnvironment
from rods.types import ToolSpec

utils = pytest.importorskip("transformers.utils")


def read_back(spec: ToolSpec) -> dict[str, Any]:
    looks = shape(spec)

    def method(self: Any, **given: Any) -> str:
        return ""

    method.__name__ = spec.name
    method.__doc__ = looks.docstring
    method.__annotations__ = dict(looks.annotations)
    method.__signature__ = looks.signature  # type: ignore[attr-defined]
    bound = type("Holder", (), {spec.name: method})()
    found = utils.get_json_schema(getattr(bound, spec.name))["function"]
    assert found["name"] == spec.name
    assert isinstance(found["parameters"], dict)
    return dict(found)


def parameter(schema: Any, required: bool = True, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"] * required}
    spec = ToolSpec(name="act", description="Act.", parameters={**parameters, **more})
    found = read_back(spec)["parameters"]
    assert found.get("required", []) == parameters["required"]
    return dict(found["properties"]["x"])


@pytest.mark.parametrize("name", FakeEnvironment().tools())
def test_a_tool_of_a_world_reads_back_as_it_was(name: str) -> None:
    spec = FakeEnvironment().tools()[name]
    found = read_back(spec)
    assert found["description"] == spec.description
    assert found["parameters"]["required"] == list(spec.required)
    for parameter, schema in spec.properties.items():
        read = found["parameters"]["properties"][parameter]
        assert read["type"] == schema["type"]
        assert read["description"].startswith(schema["description"])


@pytest.mark.parametrize(
    ("schema", "read"),
    [
        ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"const": 3}, {"type": "integer", "enum": [3]}),
        ({"type": "array", "items": {"type": "number"}}, {"items": {"type": "number"}}),
        ({"type": ["string", "integer"]}, {"type": ["integer", "string"]}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "string", "nullable": True}),
        ({"type": "object"}, {"type": "object"}),
        ({"$ref": "#/$defs/Many"}, {"type": "array", "items": {"type": "string"}}),
        ({}, {}),
        (True, {}),
    ],
)
def test_types_survive(schema: Any, read: dict[str, Any]) -> None:
    many = {"type": "array", "items": {"type": "string"}}
    found = parameter(schema, **{"$defs": {"Many": many}})
    assert found["description"] == "The x."
    assert {**found, **read} == found


def test_what_python_cannot_say_stands_in_the_words() -> None:
    field = {"type": "object", "properties": {"street": {"type": "string", "maxLength": 9}}}
    assert '"street"' in parameter(field)["description"]
    many = parameter({"type": "array", "items": field, "minItems": 2})
    assert '"street"' in many["description"]
    assert '"minItems": 2' in many["description"]
    small = parameter({"type": "integer", "minimum": 1, "description": "How many."})
    assert small["description"] == 'How many. {"minimum": 1}'
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    endless = parameter({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})
    assert endless["type"] == "object"
    assert '"next"' in endless["description"]


def test_an_option_is_nullable_and_need_not_be_given() -> None:
    assert parameter({"type": "integer"}, required=False)["nullable"]


@pytest.mark.parametrize(
    "words", ["One.\n\nArgs:\n    x: y", "Returns: nothing. Raises: x", "Pick (choices: a, b)", ""]
)
def test_no_description_breaks_the_docstring(words: str) -> None:
    schema = {"type": "string", "description": words}
    spec = ToolSpec(
        name="act",
        description=words,
        parameters={"type": "object", "properties": {"x": schema, "y": schema}},
    )
    found = read_back(spec)
    assert set(found["parameters"]["properties"]) == {"x", "y"}
    assert "enum" not in found["parameters"]["properties"]["x"]
    assert found["parameters"]["properties"]["y"]["description"]


@pytest.mark.parametrize(
    ("name", "near"),
    [("from", "from_"), ("a-b.c", "a_b_c"), ("2nd", "tool_2nd"), ("__x", "x"), ("self", "self_")],
)
def test_names_that_python_does_not_take_are_changed(name: str, near: str) -> None:
    assert python_name(name, {"self"}) == near
    assert near.isidentifier()
    properties = {name: {"type": "string"}}
    spec = ToolSpec(name="act", description="Act.", parameters={"properties": properties})
    assert shape(spec).names == {near: name}
    assert list(read_back(spec)["parameters"]["properties"]) == [near]


def test_the_tools_of_bfcl_and_office_read_back() -> None:
    for module, world in (
        ("rods_bfcl.environment", "BfclEnvironment"),
        ("rods_office.environment", "OfficeEnvironment"),
    ):
        environment = getattr(importlib.import_module(module), world)()
        for spec in environment.tools().values():
            found = read_back(spec)["parameters"]
            assert set(found["properties"]) == set(spec.properties)
            assert set(found.get("required", [])) == set(spec.required)
