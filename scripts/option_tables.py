"""Write docs/options.md: every option of every table and part, from their pydantic classes.

python scripts/option_tables.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rods.assembly import PLAIN_TABLES
from rods.plugin_manager import load_plugins
from rods.plugin_options import describe, options
from rods.types import TrainingStage

PAGE = Path(__file__).parents[1] / "docs" / "options.md"
# Every plugin of this repository.
PLUGINS = ("builtin", "acebench", "agentdojo", "bfcl", "mcp", "office", "tau2", "grpo-trl")
HEAD = """# Options

<!-- scripts/option_tables.py writes this page -->

A setting is `table.key`. It stands in a TOML file (`--config FILE`), or on the command line as
`-o table.key=value`, which wins; presets lie under both. An unknown key is refused with the nearest
one that exists. `rods plugins show NAME` prints the tables of a plugin that is not on this page.
"""


def main() -> None:
    """Write the page, or with --check say whether it is the one on disk."""
    wanted = HEAD + "".join(f"\n{line}\n" for line in sections())
    if "--check" in sys.argv:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted
        sys.exit(0 if same else "docs/options.md: run python scripts/option_tables.py.")
    PAGE.write_text(wanted, encoding="utf-8")


def sections() -> Iterator[str]:
    """The tables that belong to no part, then the parts of each plugin."""
    yield "## Tables of every run"
    for table, config in PLAIN_TABLES.items():
        yield from section(f"`[{table}]`", config.__doc__ or "", table, options(config))
    stage = options(TrainingStage)
    yield from section("`[[curriculum.stages]]`", TrainingStage.__doc__ or "", "", stage)
    plugins = load_plugins(PLUGINS)
    for name in PLUGINS:
        yield f"## Plugin `{name}`"
        for part in describe(plugins, name):
            heading = f'`[{part["kind"]}]` with `name = "{part["name"]}"`'
            yield from section(heading, part["summary"], part["kind"], part["options"])


def section(
    heading: str, summary: str, table: str, rows: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """A heading, a sentence and a table."""
    yield f"### {heading}"
    yield summary.partition("\n")[0]
    prefix = f"{table}." if table else ""
    lines = ["| key | default | type | meaning |", "|--|--|--|--|"]
    lines += [row(prefix, option) for option in rows]
    yield "\n".join(lines) if rows else "It has no options."


def row(prefix: str, option: dict[str, Any]) -> str:
    """One option as a line of a table."""
    default = "required" if option["required"] else f"`{option['default']!r}`"
    cells = (f"`{prefix}{option['key']}`", default, f"`{option['type']}`", option["description"])
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    main()
