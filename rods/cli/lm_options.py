"""The flags that choose a language model for the synthesis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def lm_options(command: F) -> F:
    """``--lm``, ``--lm-url`` and ``--program``; more is in the table [synthesis.lm]."""
    options = (
        click.option(
            "--lm",
            metavar="MODEL",
            multiple=True,
            help="A language model for the synthesis: openai/NAME of any OpenAI-compatible server, "
            "or smollm2 (embedded). Repeat for an ensemble.  [default: none]",
        ),
        click.option(
            "--lm-url", metavar="URL", help="The server, such as http://localhost:8000/v1."
        ),
        click.option(
            "--program",
            type=click.Path(path_type=Path),
            help="Tuned prompts for the language model, as `rods tune` writes them.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def lm_flags(options: Mapping[str, Any]) -> dict[str, Any]:
    """The flags as dotted settings; what was not given is None."""
    program = options["program"]
    return {
        "synthesis.lm.model": list(options["lm"]) or None,
        "synthesis.lm.url": options["lm_url"],
        "synthesis.lm.program": None if program is None else str(program.absolute()),
    }
