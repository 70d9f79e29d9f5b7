"""``rods eval --suite``: one policy on every world that names the suite, as one table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rods.cli.eval_policy import cells, evaluated_parts, played, player, unfinished_of, usage_lines
from rods.cli.output import data_line, print_json, print_pairs, print_table, say
from rods.errors import ConfigError, RodsError

if TYPE_CHECKING:
    from rods.suites import Row


_IDLE = "doing nothing solves them, by the world's own rules"


def evaluate_suite(policy: str, options: Mapping[str, Any], as_json: bool) -> int:
    """Play all rows; those that could not be played say why, and then the exit status is 1."""
    from rods.suites import overrides_of, suite_rows

    folder = options["out"]
    if folder is not None and folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; with --suite, --out is a folder: a file for a row.")
    rows, faults = suite_rows(options["suite"])
    for fault in faults:
        say(f"Left out: {fault}")
    settings = [overrides_of(row, options["overrides"], rows) for row in rows]
    reports = [
        _report(row, policy, {**options, "overrides": own})
        for row, own in zip(rows, settings, strict=True)
    ]
    result = {"suite": options["suite"], "policy": policy, "rows": reports}
    if as_json:
        print_json(result)
    else:
        _show(result)
    return 1 if any(_is_missing(report) for report in reports) else 0


def _report(row: Row, policy: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the policy reaches in a row's world, or the reason why it was not played."""
    say(f"{row.label} ...")
    try:
        return {"label": row.label, **_played(row, policy, options)}
    except RodsError as error:
        why = str(error).replace("-o environment.", f"-o environment:{row.environment}.")
        say(f"{row.label}: {why}")
        return {"label": row.label, "plugin": row.plugin, "error": why}


def _played(row: Row, policy: str, options: Mapping[str, Any]) -> dict[str, Any]:
    plugins = ",".join([row.plugin, *(options["plugins"] or "").split(",")]).strip(",")
    parts = evaluated_parts(plugins, options["config"], options)
    mine = {**options, "out": _file(options["out"], row)}
    with player(policy, parts, mine) as playing, closing(parts.environment()) as environment:
        out = unfinished_of(playing, parts, environment, mine)
        report = played(playing, environment, parts, mine, out)
        return {**report, "settings": dict(row.settings)}


def _file(folder: Path | None, row: Row) -> Path | None:
    """Where the rollouts of a row go; each can be interrupted and gone on with."""
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{re.sub(r'[^a-z0-9]+', '-', row.label.lower()).strip('-')}.jsonl.gz"


def _is_missing(report: Mapping[str, Any]) -> bool:
    return "error" in report or not report["n"]


def _show(result: Mapping[str, Any]) -> None:
    """Levels row by row, then by what rules and on what data they were reached."""
    columns = ("world", "tasks", "progress (95 % interval)", "all turns solved (95 % interval)")
    title = f"{result['suite']}: {result['policy']}"
    print_table(title, columns, [row for report in result["rows"] for row in _rows(report)])
    for report in result["rows"]:
        print_pairs(report["label"], _below(report))


def _rows(report: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """A world, and below it the sets that its tasks are flagged with: a level may rest on one."""
    if "error" in report:
        yield report["label"], 0, "not played", None
        return
    yield report["label"], *cells(report)
    for flag, level in report["sets"].items():
        yield f"  of these {flag}", *cells(level)


def _below(report: Mapping[str, Any]) -> dict[str, object]:
    if "error" in report:
        return {"not played": report["error"]}
    return {
        "protocol": report["protocol"] or "tasks and verdicts of the world, turn by turn",
        **({"idle tasks": _IDLE} if "idle" in report["sets"] else {}),
        "rollouts a task": report["samples"],
        "unscored (an outage)": report["unscored_rollouts"],
        **usage_lines("user", report.get("user", {})),
        **data_line(report["data_hashes"]),
    }
