"""A phrase says a parameter or leaves out what cannot be said; docs make a request, too."""

from __future__ import annotations

from typing import Any

import pytest

from rods.synthesis.wording.phrases import documented, plain, render, thing
from rods.types import ToolSpec

ARGUMENTS: dict[str, Any] = {"name": "a.txt", "mode": "l", "secret": 1}


def said(parameter: str) -> str | None:
    return {"name": "'{v1}'", "mode": "{v2}"}.get(parameter)


@pytest.mark.parametrize(
    ("template", "text", "parameters"),
    [
        ("read {name}", "read '{v1}'", {"name"}),
        (
            "count the {mode:l=lines;*=words} of {name}",
            "count the lines of '{v1}'",
            {"mode", "name"},
        ),
        ("read {name}[ with {secret}]", "read '{v1}'", {"name"}),
        ("read {name}[ by {mode}]", "read '{v1}' by {v2}", {"mode", "name"}),
    ],
)
def test_fields_are_filled(template: str, text: str, parameters: set[str]) -> None:
    rendered = render(template, ARGUMENTS, said)
    assert rendered is not None
    assert (rendered.text, rendered.parameters) == (text, parameters)


@pytest.mark.parametrize(
    "template", ["read {secret}", "read {absent}", "{mode:w=words}", "read {name!}"]
)
def test_a_field_that_cannot_be_said_makes_the_phrase_unfit(template: str) -> None:
    assert render(template, ARGUMENTS, said) is None


@pytest.mark.parametrize(
    ("description", "request_"),
    [
        ("Gives the text of a file. More.", "give the text of a file"),
        ("This belongs to X. Tool description: Searches files", "search files"),
        ("Copy a file; fast", "copy a file"),
    ],
)
def test_a_description_becomes_a_request(description: str, request_: str) -> None:
    spec = ToolSpec(name="t", description=description, parameters={"type": "object"})
    assert documented(spec).says == (request_,)


def test_parameters_in_plain_words() -> None:
    assert plain("lastModifiedAfter") == "last modified after"
    assert [thing(p) for p in ("order_id", "price", "fileName", "id")] == [
        "order",
        "price",
        "file",
        "id",
    ]
