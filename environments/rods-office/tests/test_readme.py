"""The README's example, tables and numbers are those of the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rods_office.apps import APPS, HELD_OUT_TOOLS, OPEN_TOOLS, TOOLS
from rods_office.config import OfficeConfig
from rods_office.entities import HELD_OUT_NAMES, TRAIN_NAMES
from rods_office.environment import OfficeEnvironment

from rods.testing import play, reference

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLE = 14


def example() -> str:
    environment = OfficeEnvironment()
    task = environment.tasks("train")[EXAMPLE]
    lines = []
    for turn, steps in zip(
        task.turns, play(environment, task, reference).trajectory.turns, strict=True
    ):
        lines.append(f"user: {turn.user}")
        for step in steps:
            for call, result in zip(step.message.calls, step.results, strict=True):
                given = ", ".join(f"{n}={json.dumps(v)}" for n, v in call.arguments.items())
                lines.append(f"    {call.name}({given}) -> {result.content}")
    return "```text\n" + "\n".join(lines) + "\n```"


def state() -> str:
    records = OfficeEnvironment().tasks("train")[EXAMPLE].initial_state
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(rows)}" for name, rows in records.items())
    return "```json\n{\n" + lines + "\n}\n```"


def tools() -> str:
    lines = ["| app | tool | effect | |", "|--|--|--|--|"]
    for app in APPS:
        for tool in app.tools:
            effect = tool.spec.effect + (", held out" if tool.held_out else "")
            call = f"`{tool.name}({', '.join(tool.entities)})`"
            lines.append(f"| {app.name} | {call} | {effect} | {tool.spec.description} |")
    return "\n".join(lines)


def options() -> str:
    lines = ["| option | default | meaning |", "|--|--|--|"]
    for name, field in OfficeConfig.model_fields.items():
        default = "" if field.default is None else f"`{json.dumps(field.default)}`"
        lines.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(lines)


PARTS = {"example": example, "state": state, "tools": tools, "options": options}


@pytest.mark.parametrize("name", PARTS)
def test_a_generated_part_of_the_readme_is_up_to_date(name: str) -> None:
    found = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- /{name} -->", README, re.DOTALL)
    assert found is not None
    assert found[1] == PARTS[name]()


def test_the_numbers_of_the_readme_are_those_of_the_code() -> None:
    names = len(HELD_OUT_NAMES) + len(TRAIN_NAMES)
    assert f"five apps, {len(TOOLS)} tools" in README
    assert f"{len(HELD_OUT_NAMES)} of {names} names" in README
    assert f"| {len(OPEN_TOOLS)} open tools |" in README
    assert f"open and **{len(HELD_OUT_TOOLS)} more**" in README
