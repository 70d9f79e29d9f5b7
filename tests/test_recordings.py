"""Verdicts on recorded trajectories: a line in, a line out, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rods.errors import DataError, WorldError
from rods.interfaces import Environment
from rods.jsonl import JsonlReader, JsonlWriter
from rods.recordings import RecordingReport, score_recordings
from rods.testing import FakeEnvironment
from rods.types import JsonObject, Task


def recorded(task: Task, turns: int | None = None) -> dict[str, Any]:
    """The reference of a task as a recording, its first turns only."""
    trajectory = [
        [[call.model_dump() for call in turn.reference]] if turn.reference else []
        for turn in task.turns[:turns]
    ]
    return {"task_id": task.id, "trajectory": trajectory}


def score(
    tmp_path: Path, lines: list[str], world: Environment | None = None, **options: Any
) -> tuple[RecordingReport, list[dict[str, Any]]]:
    (tmp_path / "in").write_text("".join(line + "\n" for line in lines))
    with JsonlWriter(tmp_path / "out") as writer:
        reader = JsonlReader(tmp_path / "in")
        report = score_recordings(world or FakeEnvironment(), reader, writer, **options)
    return report, [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]


TASKS = FakeEnvironment().tasks("train")


def test_every_line_keeps_its_other_keys_and_gets_a_verdict(tmp_path: Path) -> None:
    lines = [json.dumps({"model": "m", **recorded(task)}) for task in TASKS]
    report, verdicts = score(tmp_path, lines)
    assert [v["task_id"] for v in verdicts] == [task.id for task in TASKS]
    assert all(v["model"] == "m" and v["valid"] and v["error"] is None for v in verdicts)
    assert (report.lines, report.scored, report.valid) == (8, 8, 1.0)
    assert report.progress == {"judged": 1.0, "all": 1.0, "abstain": 1.0}


def test_a_shorter_trajectory_is_not_valid_and_has_partial_progress(tmp_path: Path) -> None:
    report, verdicts = score(tmp_path, [json.dumps(recorded(TASKS[0], turns=1))])
    assert verdicts[0]["turn_ok"] == [True, False, False]
    assert report.valid == 0
    assert report.progress["judged"] == pytest.approx(1 / 3)


def test_means_are_by_kind_over_scored_lines(tmp_path: Path) -> None:
    lines = [json.dumps(recorded(TASKS[0], turns=n)) for n in (3, 1)]
    report, _ = score(tmp_path, [*lines, json.dumps(recorded(TASKS[1]))])
    assert report.valid_by_kind == {"base": 0.5, "miss_func": 1.0}


BAD = {
    '{"task_id": ': r"in line 2 is no JSON",
    '{"task_id": "fake_train_base_9"}': r"in line 2: There is no task 'fake_train_base_9'",
    '{"trajectory": []}': r"in line 2: There is no task None",
    '{"task_id": "fake_train_base_0"}': r"in line 2: The column 'trajectory' is missing",
    '{"task_id": "fake_train_base_0", "trajectory": [[["x"]]]}': r"in line 2: A turn is no list",
}


@pytest.mark.parametrize(("line", "fault"), BAD.items())
def test_a_bad_line_stops_there_and_is_named(tmp_path: Path, line: str, fault: str) -> None:
    good = json.dumps(recorded(TASKS[0]))
    with pytest.raises(DataError, match=fault):
        score(tmp_path, [good, line, good])
    assert len((tmp_path / "out.partial").read_text().splitlines()) == 1


def test_skipping_writes_a_bad_line_with_its_error(tmp_path: Path) -> None:
    good = json.dumps(recorded(TASKS[0]))
    report, verdicts = score(tmp_path, [good, *BAD, good], on_error="skip")
    assert (report.lines, report.scored, report.errors) == (7, 2, 5)
    assert [v["valid"] for v in verdicts] == [True, None, None, None, None, None, True]
    assert "in line 2 is no JSON" in verdicts[1]["error"]
    assert verdicts[2]["task_id"] == "fake_train_base_9"


class Down(FakeEnvironment):
    def score_recording(self, recording: JsonObject) -> JsonObject:
        raise WorldError("The server does not answer.")


def test_an_outage_is_never_a_verdict(tmp_path: Path) -> None:
    line = json.dumps(recorded(TASKS[0]))
    with pytest.raises(WorldError, match="in line 1: The server does not answer"):
        score(tmp_path, [line], Down())
    report, verdicts = score(tmp_path, [line], Down(), on_error="skip")
    assert (report.scored, verdicts[0]["valid"], verdicts[0]["progress"]) == (0, None, None)


def test_progress_is_told_after_every_line(tmp_path: Path) -> None:
    told: list[int] = []
    score(tmp_path, [json.dumps(recorded(task)) for task in TASKS], progress=told.append)
    assert told == list(range(1, 9))
