"""Trajectories recorded as BFCL writes them, ``[turn][step][call string]``, judged as BFCL does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rods.errors import DataError
from rods.types import JsonObject, ProgressReward, TurnVerdict
from rods_bfcl.judging import Invocation
from rods_bfcl.parsing import CallSyntaxError, parse_call

NOT_A_CALL = Invocation(None, {})


def task_id_of(recording: JsonObject) -> str:
    """The recording's task id."""
    task_id = recording.get("task_id")
    if not isinstance(task_id, str):
        raise DataError(f"A recording has a 'task_id' (text), not {_brief(task_id)}.")
    return task_id


def read_turns(recording: JsonObject) -> list[list[Invocation]]:
    """The calls of every turn; upstream drops steps that are empty or hold one empty call."""
    where = f"The recording of {task_id_of(recording)!r}"
    trajectory = recording.get("trajectory")
    if not isinstance(trajectory, list):
        raise DataError(f"{where} has a 'trajectory' (a list), not {_brief(trajectory)}.")
    return [
        [_read_call(call) for step in _read_steps(turn, f"{where}, turn {index},") for call in step]
        for index, turn in enumerate(trajectory)
    ]


def _read_steps(turn: Any, where: str) -> list[list[str]]:
    if not isinstance(turn, list) or not all(isinstance(step, list) for step in turn):
        raise DataError(f"{where} is a list of steps, each a list of calls; got {_brief(turn)}.")
    for step in turn:
        for call in step:
            if not isinstance(call, str):
                raise DataError(f"{where} holds a call that is no text: {_brief(call)}.")
    return [step for step in turn if step and step != [""]]


def _read_call(text: str) -> Invocation:
    try:
        call = parse_call(text)
    except CallSyntaxError:
        return NOT_A_CALL
    return Invocation(call.name, call.named, call.positional)


def report(
    recording: JsonObject, verdicts: Sequence[TurnVerdict], *, turns: int, empty_turns: Any
) -> JsonObject:
    """The recording's other keys and its verdict; ``turns`` is how many were recorded."""
    error = official_error(verdicts, turns)
    reward = ProgressReward(verdicts=tuple(verdicts), empty_turns=empty_turns)
    kept = {key: value for key, value in recording.items() if key != "trajectory"}
    return {
        **kept,
        "valid": error is None,
        "turn_ok": [v.ok if v.judged else None for v in verdicts],
        "state_ok": [v.state_ok for v in verdicts],
        "response_ok": [v.response_ok if v.judged else None for v in verdicts],
        "progress": {
            "judged": round(reward.under("judged"), 6),
            "all": round(reward.under("all"), 6),
            "abstain": round(reward.under("abstain"), 6),
        },
        "error": error,
    }


def official_error(verdicts: Sequence[TurnVerdict], turns: int) -> str | None:
    """The error type that the official checker gives: the first failure ends it."""
    if turns != len(verdicts):
        return "multi_turn:force_terminated"
    for verdict in verdicts:
        if verdict.judged and not verdict.acted:
            return "multi_turn:empty_turn_model_response"
        if verdict.judged and not verdict.state_ok:
            return "multi_turn:instance_state_mismatch"
        if verdict.judged and not verdict.response_ok:
            return "multi_turn:execution_response_mismatch"
    return None


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
