"""Hints stay readable whatever is known."""

from __future__ import annotations

from rods.errors import did_you_mean


def test_a_hint_lists_few_names_and_counts_the_others() -> None:
    names = [f"task-{i:04d}" for i in range(1000)]
    hint = did_you_mean("zzz", names)
    assert hint.startswith("Known: task-0000, task-0001, ")
    assert hint.endswith("task-0029 and 970 more.")


def test_a_short_list_is_whole() -> None:
    assert did_you_mean("zzz", ["b", "a"]) == "Known: a, b."
