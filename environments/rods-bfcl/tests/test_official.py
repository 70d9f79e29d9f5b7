"""The official checker, run live: mutated references get its verdict turn by turn."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rods_bfcl.asset import Asset
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.parsing import render_call

from rods.types import KINDS, Task, ToolCall

SAMPLES = 120
_VALUES: list[Any] = [None, "", 0, -1, 1.0, True, [], ["x"], {"a": 1}, "x" * 50, 10**6, "é"]
Turns = list[list[list[ToolCall]]]


@pytest.fixture(scope="module")
def official(asset: Asset) -> Iterator[Callable[[Any], dict[str, Any]]]:
    """A function that asks the official checker for its verdict on a recording."""
    if not Path(asset.origin).is_file():
        pytest.skip("needs the wheel")
    child = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("official_checker.py")), asset.origin],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    stdin, stdout = child.stdin, child.stdout
    stdin.write(json.dumps(_official_data(asset)) + "\n")

    def ask(recording: Any) -> dict[str, Any]:
        stdin.write(json.dumps(recording) + "\n")
        stdin.flush()
        verdict: dict[str, Any] = json.loads(stdout.readline())
        return verdict

    yield ask
    stdin.close()
    stdout.close()
    child.wait(timeout=30)


def _official_data(asset: Asset) -> tuple[dict[str, Any], dict[str, Any]]:
    entries: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for kind in KINDS:
        file = f"BFCL_v4_multi_turn_{kind}.json"
        entries |= {str(e["id"]): e for e in asset.lines(f"bfcl_eval/data/{file}")}
        for answer in asset.lines(f"bfcl_eval/data/possible_answer/{file}"):
            answers[str(answer["id"])] = answer["ground_truth"]
    return entries, answers


def test_mutated_references_get_the_official_verdict(
    environment: BfclEnvironment,
    tasks: dict[str, Task],
    official: Callable[[Any], dict[str, Any]],
) -> None:
    rng = random.Random(20260323)
    chosen = rng.sample(sorted(tasks), SAMPLES)
    pool = [c for task in tasks.values() for turn in task.turns for c in turn.reference]
    valid = 0
    for task_id in chosen:
        turns = _mutated(tasks[task_id], pool, rng)
        trajectory = [[[render_call(c) for c in step] for step in turn] for turn in turns]
        recording: dict[str, Any] = {"task_id": task_id, "trajectory": trajectory}
        expected = official(recording)
        ours = environment.score_recording(recording)
        assert {key: ours[key] for key in expected} == expected, recording
        valid += expected["valid"]
    assert 0 < valid < SAMPLES


def _mutated(task: Task, pool: list[ToolCall], rng: random.Random) -> Turns:
    """The reference with one to three faults."""
    turns: Turns = [[[call] for call in turn.reference] for turn in task.turns]
    known = set(task.tools_at(len(task.turns)))
    for _ in range(rng.randint(1, 3)):
        steps = rng.choice(turns)
        fault = rng.choice([_drop, _repeat, _shuffle, _change, _cut])
        if fault is _cut and rng.random() < 0.8:
            steps.insert(rng.randint(0, len(steps)), [_foreign(pool, known, rng)])
        elif steps:
            fault(turns, steps, rng)
    return turns


def _foreign(pool: list[ToolCall], known: set[str], rng: random.Random) -> ToolCall:
    """A call of another task's reference, for a function that exists here."""
    while (call := rng.choice(pool)).name not in known:
        pass
    return call


def _drop(turns: Turns, steps: list[list[ToolCall]], rng: random.Random) -> None:
    steps.pop(rng.randrange(len(steps)))


def _repeat(turns: Turns, steps: list[list[ToolCall]], rng: random.Random) -> None:
    steps.append(rng.choice(steps))


def _shuffle(turns: Turns, steps: list[list[ToolCall]], rng: random.Random) -> None:
    rng.shuffle(steps)


def _change(turns: Turns, steps: list[list[ToolCall]], rng: random.Random) -> None:
    step = rng.randrange(len(steps))
    call = steps[step][0]
    name = rng.choice([*call.arguments, "surprise"])
    changed = {**call.arguments, name: rng.choice(_VALUES)}
    steps[step] = [ToolCall(name=call.name, arguments=changed)]


def _cut(turns: Turns, steps: list[list[ToolCall]], rng: random.Random) -> None:
    turns.pop()
