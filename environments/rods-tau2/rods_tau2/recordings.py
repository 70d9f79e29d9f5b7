"""Trajectories recorded elsewhere: calls and texts, judged as upstream judges them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from rods.errors import DataError
from rods.types import JsonObject, ProgressReward, ToolCall, TurnVerdict
from rods_tau2.judging import Acts

_EXPECTED = (
    '{"task_id": "retail/3", "trajectory": [{"calls": [{"name": ..., "arguments": {...}}], '
    '"content": "..."}]}'
)


def task_id_of(recording: JsonObject) -> str:
    """The recording's task."""
    task_id = recording.get("task_id")
    if not isinstance(task_id, str):
        raise DataError(f"The recording has no task_id; expected {_EXPECTED}.")
    return task_id


def read_acts(recording: JsonObject) -> Acts:
    """The calls and texts of the recording's messages, in order."""
    messages = recording.get("trajectory")
    if not isinstance(messages, list):
        raise DataError(f"The recording has no list 'trajectory'; expected {_EXPECTED}.")
    acts = Acts(calls=[], texts=[], acted=False)
    for number, message in enumerate(messages):
        calls, content = _read(message, f"message {number} of the trajectory")
        acts = Acts(
            calls=[*acts.calls, *calls],
            texts=[*acts.texts, content] if content.strip() else acts.texts,
            acted=acts.acted or bool(calls),
        )
    return acts


def _read(message: Any, where: str) -> tuple[list[ToolCall], str]:
    if not isinstance(message, dict):
        raise DataError(f"The {where} is no object; expected {_EXPECTED}.")
    content, calls = message.get("content") or "", message.get("calls") or []
    if not isinstance(content, str) or not isinstance(calls, list):
        raise DataError(f"The {where} has no text and list of calls; expected {_EXPECTED}.")
    try:
        return [ToolCall.model_validate(call) for call in calls], content
    except ValidationError as error:
        raise DataError(
            f"The {where} holds a call that is none: {error.errors()[0]['msg']}."
        ) from error


def report(recording: JsonObject, verdicts: Sequence[TurnVerdict]) -> JsonObject:
    """The recording's other keys with upstream's verdict and our progress."""
    reward = ProgressReward(verdicts=tuple(verdicts))
    kept = {key: value for key, value in recording.items() if key != "trajectory"}
    return {
        **kept,
        "valid": reward.solved,
        "turn_ok": [v.ok if v.judged else None for v in verdicts],
        "state_ok": [v.state_ok for v in verdicts],
        "response_ok": [v.response_ok if v.judged else None for v in verdicts],
        "progress": {"judged": round(reward.under("judged"), 6)},
        "error": None,
    }
