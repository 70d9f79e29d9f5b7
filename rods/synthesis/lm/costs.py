"""What the language models cost a task that was admitted, all in all and by backbone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rods.types import ModelUsage, Record

ALL = "all"


class Cost(Record):
    """The bill of one backbone, or of all, rejected attempts included."""

    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    price: float
    admitted: int  # tasks that it had a part in
    calls_per_task: float | None  # of all admitted tasks; None without one
    tokens_per_task: float | None
    seconds_per_task: float | None
    price_per_task: float | None


def costs(usage: Iterable[ModelUsage], admitted: int, worded: Mapping[str, int]) -> dict[str, Cost]:
    """Backbone -> its cost, ``all`` last; empty without a call.

    A backbone's part of a task's cost is its bill over all ``admitted`` tasks: the parts add up.
    """
    by_model: dict[str, ModelUsage] = {}
    for row in usage:
        known = by_model.get(row.model)
        by_model[row.model] = row if known is None else known + row
    if not by_model:
        return {}
    first, *others = by_model.values()
    total = sum(others, first)
    found = {
        name: _cost(by_model[name], admitted, worded.get(name, 0)) for name in sorted(by_model)
    }
    return {**found, ALL: _cost(total, admitted, admitted)}


def _cost(row: ModelUsage, admitted: int, worded: int) -> Cost:
    tokens = row.tokens_in + row.tokens_out
    return Cost(
        calls=row.calls,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        seconds=round(row.seconds, 3),
        price=row.price,
        admitted=worded,
        calls_per_task=_share(row.calls, admitted),
        tokens_per_task=_share(tokens, admitted),
        seconds_per_task=_share(row.seconds, admitted),
        price_per_task=_share(row.price, admitted),
    )


def _share(amount: float, admitted: int) -> float | None:
    return amount / admitted if admitted else None
