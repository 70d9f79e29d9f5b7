"""Faults on the command line, as kinds: each is one line with status 2, whatever the command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from rods.cli import COMMANDS
from rods.cli.options import refuse_empty_paths
from rods.config import PoolConfig, Settings
from rods.errors import ConfigError

Rods = Callable[..., subprocess.CompletedProcess[str]]


def line(done: subprocess.CompletedProcess[str]) -> str:
    """The only line on stderr, of a command that was refused."""
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (2, "", 1), done
    assert lines[0].startswith("Error: ")
    return lines[0].removeprefix("Error: ")


# ------------------------------------------------------------------------------- usage
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("evla",), "No command 'evla'. Did you mean 'eval'? (`rods --help`)"),
        (("run", "--sed", "3"), "No such option '--sed'."),
        (("run", "x"), "Got unexpected extra argument (x) (`rods run --help`)"),
        (("run", "--seed", "-1"), "-1 is not in the range x>=0. (`rods run --help`)"),
        (("pool", "export", "x"), "Missing option '--out'. (`rods pool export --help`)"),
        (("eval", "-k"), "Option '-k' requires an argument."),
        (("run", "--seed", "9" * 5000), "... (`rods run --help`)"),
    ],
)
def test_what_click_refuses_is_one_line_that_names_the_help(
    here: Rods, arguments: tuple[str, ...], said: str
) -> None:
    found = line(here(*arguments))
    assert said in found
    assert len(found) < 400


# ------------------------------------------------------------------------------- paths
def paths(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The words that give an empty path for every option or argument that takes one."""
    for parameter in command.params:
        if isinstance(parameter.type, click.Path):
            is_option = isinstance(parameter, click.Option)
            yield (*words, f"{parameter.opts[0]}=" if is_option else "")
    for name, inner in getattr(command, "commands", {}).items():
        yield from paths(inner, (*words, name, "place"))


def every_path() -> list[tuple[str, ...]]:
    commands = {name: import_module(f"rods.cli.{name}").command for name in COMMANDS}
    return [found for name, command in commands.items() for found in paths(command, (name,))]


@pytest.mark.parametrize("words", every_path(), ids=" ".join)
def test_an_empty_path_is_not_the_current_folder(here: Rods, words: tuple[str, ...]) -> None:
    place = words[-1].removesuffix("=") or "RUN..."
    said = "the path is empty; name one or leave the option out."
    assert f"Invalid value for '{place}': {said}" in line(here(*words)).replace(" / ", "")


def test_the_path_options_of_a_plugins_command_are_held_to_it_too() -> None:
    @click.command()
    @click.option("--to", type=click.Path(path_type=Path))
    def tidy(to: Path) -> None:
        assert to == Path("x")

    command = refuse_empty_paths(refuse_empty_paths(tidy))
    command.main(["--to", "x"], standalone_mode=False)
    with pytest.raises(click.BadParameter, match="the path is empty"):
        command.main(["--to", " "], standalone_mode=False)


@pytest.mark.parametrize(
    "words", [("run", "--out"), ("eval", "--policy", "x", "--out"), ("pool", "stats")]
)
def test_a_name_in_another_encoding_is_refused(here: Rods, words: tuple[str, ...]) -> None:
    assert "the path is not in UTF-8" in line(here(*words, "a\udcff"))


@pytest.mark.parametrize("command", ["stats", "list"])
def test_an_empty_place_is_no_pool(here: Rods, command: str) -> None:
    assert "The pool's place is empty" in line(here("pool", command, ""))


def test_an_empty_path_in_the_settings_is_refused(here: Rods) -> None:
    done = here("run", "--plugins", "bfcl,grpo-trl", "--dry-run", "-o", "environment.asset=")
    assert line(done) == (
        "environment.asset is empty (-o environment.asset=), which would mean the current folder; "
        "name one."
    )


# ------------------------------------------------------------------------------- numbers
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (f"curriculum.epoch_size={'9' * 29}", "expected at most 9223372036854775807."),
        ("curriculum.epoch_size=10000000", "expected less than or equal to 1000000."),
        (f"environment.tasks={'9' * 29}", "expected at most 9223372036854775807."),
        (f"curriculum.stages=[{{epochs={'9' * 29}}}]", "expected at most 9223372036854775807."),
        (f"run.seed={'9' * 5000}", "The number 99999999999999999999... is too long."),
    ],
)
def test_a_number_that_nothing_can_come_of_is_found_before_the_run(
    here: Rods, setting: str, said: str
) -> None:
    done = here("run", "--plugins", "stockroom", "--dry-run", "-o", setting)
    assert line(done).endswith(said)


def test_a_file_with_such_a_number_is_named(here: Rods, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f"[run]\nseed = {'9' * 5000}\n")
    done = here("run", "--plugins", "stockroom", "--config", "c.toml")
    assert line(done) == "c.toml holds a number that is too long."


# ------------------------------------------------------------------------------- pool.url
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("garbage", "expected a URL, such as sqlite:////data/pool.sqlite."),
        ("sqlite://", "a pool in memory is lost with the process; name a file."),
        ("foo://bar", "The driver for 'foo' is missing"),
        ("postgresql+psycopg://me@host:x/rods", "is not a database URL"),
        ("postgresql+psycopg://host/rods?password=secret", "as user:password@host."),
    ],
)
@pytest.mark.parametrize("dry", [("--dry-run",), ()], ids=["dry", "run"])
def test_a_url_that_is_none_is_refused_before_the_run(
    here: Rods, tmp_path: Path, url: str, said: str, dry: tuple[str, ...]
) -> None:
    done = here("run", "--plugins", "stockroom", "--out", "r", "-o", f"pool.url={url}", *dry)
    assert said in line(done)
    assert not list(tmp_path.iterdir())


def test_a_password_in_a_refused_url_is_not_repeated() -> None:
    settings = Settings()
    url = "postgresql://me:secret@host/db?password=x"
    settings.overlay({"pool": {"url": url}}, f"-o pool.url={url}")
    with pytest.raises(ConfigError) as caught:
        settings.build("pool", PoolConfig)
    assert "secret" not in str(caught.value)
    assert "me:***@host" in str(caught.value)
