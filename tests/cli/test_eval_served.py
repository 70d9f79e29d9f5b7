"""``rods eval --policy openai/NAME``: a served model is a policy like any other."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rods.testing.model_server import ModelServer

Rods = Callable[..., subprocess.CompletedProcess[str]]


def count_lamps(body: dict[str, Any]) -> str | dict[str, Any]:
    """Looks once in every turn and closes it."""
    if body["messages"][-1]["role"] == "tool":
        return "Done."
    call = {"name": "count", "arguments": '{"item": "lamps"}'}
    return {"tool_calls": [{"id": "a", "type": "function", "function": call}]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(count_lamps) as running:
        yield running


def evaluate(here: Rods, server: ModelServer, *more: object) -> subprocess.CompletedProcess[str]:
    served = ("--policy", "openai/tiny", "--lm-url", server.url)
    return here("eval", "--plugins", "stockroom", *served, "-k", 1, *more)


def test_a_served_model_has_levels_and_a_bill(here: Rods, server: ModelServer) -> None:
    done = evaluate(here, server, "--temperature", 0.5, "--max-tokens", 99)
    assert done.returncode == 0, done.stderr
    assert "openai/tiny" in done.stdout
    assert f"model: requests       {len(server.requests)}" in done.stdout
    assert {body["temperature"] for body in server.requests} == {0.5}
    assert {body["max_tokens"] for body in server.requests} == {99}


def test_the_report_is_json_for_scripts(here: Rods, server: ModelServer) -> None:
    report = json.loads(evaluate(here, server, "--tasks", 2, "--json").stdout)
    assert (report["policy"], report["n"], report["progress"]) == ("openai/tiny", 2, 0.0)
    assert report["lm"]["requests"] == len(server.requests)
    assert report["lm"]["tokens_in"] > 0


def test_rollouts_are_kept_and_a_finished_file_is_not_replaced(
    here: Rods, server: ModelServer, tmp_path: Path
) -> None:
    assert evaluate(here, server, "--tasks", 2, "--out", "r.jsonl").returncode == 0
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 2
    again = evaluate(here, server, "--tasks", 2, "--out", "r.jsonl")
    assert again.returncode == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policy", "openai/other"), "does not serve 'other', but tiny"),
        (("--policy", "openai/"), "lacks the model's name"),
        (("--policy", "."), "--lm-url is for a served model: --policy openai/NAME."),
        (("--policy", "openai/tiny", "--temperature", "9"), "9.0 is not in the range"),
    ],
)
def test_bad_input_is_one_line(
    here: Rods, server: ModelServer, arguments: tuple[str, ...], said: str
) -> None:
    done = here("eval", "--plugins", "stockroom", "--lm-url", server.url, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]


def test_a_server_that_is_not_there_is_one_line(here: Rods) -> None:
    where = ("--policy", "openai/tiny", "--lm-url", "http://127.0.0.1:9/v1")
    done = here("eval", "--plugins", "stockroom", *where)
    assert done.returncode == 2
    assert "No server answers at http://127.0.0.1:9/v1" in done.stderr
