"""What language models cost, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rods.cli.output import print_table

COLUMNS = ("model", "calls", "tokens", "seconds", "price", "tasks", *(
    f"{what} a task" for what in ("calls", "tokens", "seconds", "price")
))  # fmt: skip


def print_costs(costs: Mapping[str, Mapping[str, Any]]) -> None:
    """One line a backbone, all together last; nothing without a language model."""
    if costs:
        print_table("Language models (rejected attempts included)", COLUMNS, list(_rows(costs)))


def _rows(costs: Mapping[str, Mapping[str, Any]]) -> Iterator[Sequence[object]]:
    for name, cost in costs.items():
        if len(costs) == 2 and name == "all":
            continue  # it is the only model's line again
        per_task = [cost[f"{what}_per_task"] for what in ("calls", "tokens", "seconds", "price")]
        yield (
            name,
            cost["calls"],
            cost["tokens_in"] + cost["tokens_out"],
            round(cost["seconds"], 1),
            _money(cost["price"]),
            cost["admitted"],
            *("-" if value is None else f"{value:.1f}" for value in per_task[:3]),
            _money(per_task[3]),
        )


def _money(price: float | None) -> str:
    return "-" if not price else f"{price:.6f}"
