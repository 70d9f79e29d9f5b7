"""The 800 tasks: BFCL's entries and ground truth as records, in the paired split."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from rods.errors import DataError
from rods.types import KINDS, Kind, Split, Task, ToolCall, ToolSpec, Turn
from rods_bfcl.asset import Asset
from rods_bfcl.parsing import parse_call, to_tool_call
from rods_bfcl.upstream import Method

HAND_OVER = "I have updated some more functions you can choose from. What about now?"

# Indices whose ground truth holds text that no policy can know; no published model passed them.
UNPASSABLE = frozenset(
    {4, 8, 11, 15, 18, 20, 28, 30, 35, 48, 62, 75, 95, 147, 156, 171, 176, 184, 187}
)

# References that do not keep to what the policy is shown: 49 calls the function that is withheld,
# 173 gives a ticket number as text. Both are solvable only by breaking the same rule.
DEFECTS = frozenset(
    {
        "multi_turn_miss_func_49",
        *(f"multi_turn_{kind}_173" for kind in KINDS),
    }
)


class TaskReader:
    """Turns BFCL's entries into tasks."""

    def __init__(
        self,
        asset: Asset,
        toolspecs: Mapping[str, Mapping[str, ToolSpec]],
        methods: Mapping[str, Method],
    ) -> None:
        self._asset = asset
        self._toolspecs = toolspecs
        self._methods = methods
        self._splits = read_split()

    def read(self, kind: Kind) -> list[Task]:
        """The 200 tasks of a kind, in upstream's order."""
        file = f"BFCL_v4_multi_turn_{kind}.json"
        answers = {
            str(answer["id"]): answer["ground_truth"]
            for answer in self._asset.lines(f"bfcl_eval/data/possible_answer/{file}")
        }
        return [
            self._task(kind, entry, answers[str(entry["id"])])
            for entry in self._asset.lines(f"bfcl_eval/data/{file}")
        ]

    def _task(self, kind: Kind, entry: Mapping[str, Any], answer: Any) -> Task:
        task_id = str(entry["id"])
        hidden: dict[str, list[str]] = entry.get("missed_function", {})
        withheld = {name for names in hidden.values() for name in names}
        classes = entry["involved_classes"]
        return Task(
            id=task_id,
            environment="bfcl",
            kind=kind,
            split=self._splits[task_id],
            tools=tuple(n for c in classes for n in self._toolspecs[c] if n not in withheld),
            turns=tuple(
                self._turn(messages, calls, hidden.get(str(index), []))
                for index, (messages, calls) in enumerate(
                    zip(entry["question"], answer, strict=True)
                )
            ),
            initial_state={
                "classes": classes,
                "config": entry["initial_config"],
                "long_context": kind == "long_context",
            },
            flags=_flags(task_id),
        )

    def _turn(self, messages: Any, calls: Sequence[str], reveals: Sequence[str]) -> Turn:
        user = "\n".join(message["content"] for message in messages) if messages else HAND_OVER
        return Turn(
            user=user,
            reference=tuple(self._call(call) for call in calls),
            reveals=tuple(reveals),
        )

    def _call(self, text: str) -> ToolCall:
        call = parse_call(text)
        return to_tool_call(call, self._methods[call.name].parameters)


def _flags(task_id: str) -> tuple[str, ...]:
    unpassable = int(task_id.rsplit("_", 1)[1]) in UNPASSABLE
    known = {"unpassable": unpassable, "defect": task_id in DEFECTS}
    return tuple(flag for flag, holds in known.items() if holds)


def read_split() -> dict[str, Split]:
    """Task id -> its side of the split, which is paired by index over the four kinds."""
    content = json.loads((files("rods_bfcl") / "split.json").read_text(encoding="utf-8"))
    splits: tuple[Split, ...] = ("train", "eval")
    sides: dict[str, Split] = {}
    for split in splits:
        names = content[split]
        sides |= {task_id: split for kind in KINDS for task_id in names[f"multi_turn_{kind}"]}
    if len(sides) != 800:
        raise DataError(f"split.json names {len(sides)} tasks; 800 were expected.")
    return sides
