"""``rods tune`` and the flags that choose a language model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rods.testing.model_server import ModelServer

Here = Callable[..., "CompletedProcess[str]"]


def test_tuning_needs_a_model(here: Here) -> None:
    done = here("tune", "--plugins", "stockroom")
    assert (done.returncode, "name one with --lm" in done.stderr) == (2, True)


def test_a_server_that_is_away_is_one_line_before_anything_is_made(
    here: Here, tmp_path: Path
) -> None:
    flags = ("--plugins", "stockroom", "--lm", "openai/tiny", "--lm-url", "http://127.0.0.1:9/v1")
    for command in (("tune",), ("synth", "--out", "v.jsonl")):
        done = here(*command, *flags)
        assert done.returncode == 2
        assert "No server answers at http://127.0.0.1:9/v1" in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "v.jsonl").exists()


def test_the_preflight_of_a_run_knows_the_model(here: Here) -> None:
    with ModelServer(lambda _: "{}") as server:
        flags = ("--plugins", "stockroom", "--lm-url", server.url, "--dry-run", "--json")
        good = json.loads(here("run", *flags, "--lm", "openai/tiny").stdout)
        bad = here("run", *flags, "--lm", "openai/huge")
    assert {"language model"} <= {check["name"] for check in good if check["ok"]}
    failed = [check for check in json.loads(bad.stdout) if not check["ok"]]
    assert [check["name"] for check in failed] == ["language model"]


def test_a_synthesizer_without_models_says_so(here: Here) -> None:
    with ModelServer(lambda _: "{}") as server:
        flags = ("--lm", "openai/tiny", "--lm-url", server.url, "-o", "synthesizer.name=renamer")
        done = here("synth", "--plugins", "stockroom", *flags, "--out", "v.jsonl")
    assert (done.returncode, "takes no language model" in done.stderr) == (2, True)


def test_an_earlier_tuning_is_neither_overwritten_nor_invented(here: Here, tmp_path: Path) -> None:
    with ModelServer(lambda _: "{}") as server:
        flags = ("--plugins", "stockroom", "--lm", "openai/tiny", "--lm-url", server.url)
        nothing = here("tune", *flags, "--resume")
        (tmp_path / "tuned.json.journal.jsonl").write_text("")
        again = here("tune", *flags)
    assert "There is nothing to resume" in nothing.stderr
    assert "--resume goes on with it" in again.stderr


@pytest.mark.slow
def test_a_dry_run_leaves_nothing_behind(here: Here, tmp_path: Path) -> None:
    with ModelServer(lambda _: "{}") as server:
        flags = ("--plugins", "office", "--lm", "openai/tiny", "--lm-url", server.url)
        done = here("tune", *flags, "--held-out", "2", "--dry-run", "--json")
        asked = len(server.requests)
    assert (done.returncode, asked > 0) == (0, True), done.stderr
    assert json.loads(done.stdout)["trials"] > 0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["tuned.json", "tuned.json.journal.jsonl"])
def test_an_earlier_result_is_refused_before_anything_is_paid(
    here: Here, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine")
    with ModelServer(lambda _: "{}") as server:
        done = here("tune", "--plugins", "stockroom", "--lm", "openai/tiny", "--lm-url", server.url)
        assert not server.requests
    assert (done.returncode, "--force" in done.stderr) == (2, True)
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_is_no_file_for_the_prompts(here: Here, tmp_path: Path) -> None:
    assert "is a folder" in here("tune", "--plugins", "stockroom", "--out", tmp_path).stderr


def test_a_program_that_was_never_written_is_named(here: Here) -> None:
    with ModelServer(lambda _: "{}") as server:
        flags = ("--lm", "openai/tiny", "--lm-url", server.url, "--program", "none.json")
        done = here("synth", "--plugins", "stockroom", *flags, "--out", "v.jsonl")
    assert done.returncode == 2
    assert "Cannot read the tuned prompts" in done.stderr


@pytest.mark.parametrize("stage", ["critique", "words"])
def test_stages_that_cannot_be_tuned_are_no_choice(here: Here, stage: str) -> None:
    assert here("tune", "--stage", stage).returncode == 2
