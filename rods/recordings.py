"""Scores trajectories that someone else recorded: one verdict a line, in flat memory."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Literal, cast

from rods.errors import DataError, RodsError, UserError, WorldError
from rods.interfaces import Environment
from rods.jsonl import JsonlReader, JsonlWriter, dump_line
from rods.types import JsonObject, JsonValue, Record

VERDICT_KEYS = ("valid", "turn_ok", "state_ok", "response_ok", "progress", "error")
_UNLISTED = "not in a split"  # the task exists, but the options leave it out
OnError = Literal["stop", "skip"]


class RecordingReport(Record):
    """What a file of trajectories scored; shares and means are over the scored lines."""

    lines: int
    scored: int
    errors: int
    valid: float
    progress: dict[str, float]
    valid_by_kind: dict[str, float]
    seconds: float
    data_hashes: dict[str, str]


def score_recordings(
    environment: Environment,
    reader: JsonlReader,
    writer: JsonlWriter,
    *,
    on_error: OnError = "stop",
    progress: Callable[[int], None] | None = None,
) -> RecordingReport:
    """Write every line with its verdict: other keys are kept, those of VERDICT_KEYS replaced.

    A line that cannot be scored stops the run with an error that names it, or (``skip``) is
    written with null verdicts and its ``error``.
    """
    start, tally = time.perf_counter(), _Tally(_kinds(environment))
    for number, line in reader:
        recording: JsonObject = {"line": number}
        try:
            recording = reader.parse(number, line)
            verdict = _verdict(environment, reader, number, recording)
        except (DataError, WorldError) as error:
            if on_error == "stop":
                raise
            verdict = {**dict.fromkeys(VERDICT_KEYS), "error": str(error)}
        writer.write(dump_line({**recording, **verdict}))
        tally.add(recording.get("task_id"), verdict)
        if progress is not None:
            progress(tally.lines)
    if not tally.lines:
        raise DataError(f"{reader.path} holds no line to score.")
    hashes = dict(environment.data_hashes())
    return tally.report(time.perf_counter() - start, hashes)


def _verdict(
    environment: Environment, reader: JsonlReader, number: int, recording: JsonObject
) -> JsonObject:
    """The environment's verdict; its errors get file and line, an outage stays an outage."""
    try:
        return environment.score_recording(recording)
    except RodsError as error:
        kind = type(error) if isinstance(error, UserError | WorldError) else DataError
        raise kind(f"{reader.path} line {number}: {error}") from error
    except RecursionError as error:
        raise DataError(f"{reader.path} line {number} is nested too deeply.") from error


def _kinds(environment: Environment) -> dict[JsonValue, str]:
    return {t.id: t.kind for s in ("train", "eval") for t in environment.tasks(cast(Any, s))}


class _Tally:
    """Running sums over the lines."""

    def __init__(self, kinds: dict[JsonValue, str]) -> None:
        self.lines = self.scored = 0
        self._kinds = kinds
        self._progress: Counter[str] = Counter()
        self._valid: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # kind -> valid, scored

    def add(self, task_id: JsonValue, verdict: JsonObject) -> None:
        """Count one line; ``valid`` null means that it has no verdict."""
        self.lines += 1
        if verdict.get("valid") is None:
            return
        self.scored += 1
        for key in ("all", self._kinds.get(task_id, _UNLISTED)):
            self._valid[key][0] += bool(verdict["valid"])
            self._valid[key][1] += 1
        self._progress.update(cast(dict[str, Any], verdict.get("progress") or {}))

    def report(self, seconds: float, hashes: dict[str, str]) -> RecordingReport:
        """The shares and means."""
        shares = {kind: valid / n for kind, (valid, n) in self._valid.items()}
        return RecordingReport(
            lines=self.lines,
            scored=self.scored,
            errors=self.lines - self.scored,
            valid=shares.pop("all", 0.0),
            progress={rule: total / self.scored for rule, total in self._progress.items()},
            valid_by_kind=dict(sorted(shares.items())),
            seconds=seconds,
            data_hashes=hashes,
        )
