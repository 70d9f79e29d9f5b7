"""Recorded trajectories get upstream's verdict and our progress."""

from __future__ import annotations

import pytest
from rods_tau2.environment import Tau2Environment

from rods.errors import DataError
from rods.types import JsonObject, Task


def _recording(task: Task, *, answer: str) -> JsonObject:
    calls = [call.model_dump() for call in task.turns[0].reference]
    return {
        "task_id": task.id,
        "model": "any",
        "trajectory": [{"calls": calls}, {"content": answer}],
    }


def test_a_recorded_reference_is_valid(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    task = tasks["retail/3"]
    verdict = environment.score_recording(
        _recording(task, answer=f"There are {task.turns[0].answer}.")
    )
    assert (verdict["valid"], verdict["progress"]) == (True, {"judged": 1.0})
    assert verdict["model"] == "any"


def test_what_has_to_be_said_is_part_of_the_verdict(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    verdict = environment.score_recording(_recording(tasks["retail/3"], answer="Done."))
    assert (verdict["valid"], verdict["state_ok"], verdict["response_ok"]) == (
        False,
        [True],
        [False],
    )
    assert verdict["progress"] == {"judged": 0.5}


@pytest.mark.parametrize(
    ("recording", "message"),
    [
        ({}, "no task_id"),
        ({"task_id": "retail/3"}, "no list 'trajectory'"),
        ({"task_id": "retail/9999", "trajectory": []}, "no task 'retail/9999'"),
        ({"task_id": "hotel/1", "trajectory": []}, "no domain 'hotel'"),
        ({"task_id": "retail/3", "trajectory": ["x"]}, "message 0"),
        ({"task_id": "retail/3", "trajectory": [{"calls": [1]}]}, "message 0"),
    ],
)
def test_a_bad_recording_is_refused(
    recording: JsonObject, message: str, environment: Tau2Environment
) -> None:
    with pytest.raises(DataError, match=message):
        environment.score_recording(recording)
