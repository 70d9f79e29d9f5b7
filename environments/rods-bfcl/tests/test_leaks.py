"""The world objects to exactly those references that the official checker refuses for a leak."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rods_bfcl.asset import Asset
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.parsing import render_call

from rods.types import Task, ToolCall, Turn

_TWEETS = 150


@pytest.fixture(scope="module")
def seed(tasks: dict[str, Task]) -> Task:
    """A task whose user can post: nobody has to log in."""
    found = (t for t in tasks.values() if t.kind == "base" and "post_tweet" in t.tools)
    return next(t for t in found if _config(t).get("authenticated") is True)


def _config(task: Task) -> dict[str, Any]:
    state: dict[str, Any] = task.initial_state
    return state["config"].get("TwitterAPI", {})  # type: ignore[no-any-return]


def _made(seed: Task, number: int, *turns: tuple[ToolCall, ...]) -> Task:
    told = tuple(Turn(user="?", reference=calls) for calls in turns)
    return seed.model_copy(update={"id": f"multi_turn_base_{1000 + number}", "turns": told})


def _post(**more: Any) -> ToolCall:
    return ToolCall(name="post_tweet", arguments={"content": "Hello", **more})


def _mention(tweet: int) -> ToolCall:
    arguments = {"tweet_id": tweet, "mentioned_usernames": ["@ann"]}
    return ToolCall(name="mention", arguments=arguments)


def _drawn(seed: Task, number: int, rng: random.Random) -> Task:
    """A few turns of posts, mentions and looks at tweets."""
    first = int(_config(seed)["tweet_counter"])
    pool = [
        _post(),
        _post(),
        _post(mentions=["@bob"]),
        _mention(first),
        _mention(first + 1),
        ToolCall(name="get_tweet", arguments={"tweet_id": first}),
        ToolCall(name="search_tweets", arguments={"keyword": "hello"}),
    ]
    turns = [tuple(rng.choices(pool, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
    return _made(seed, number, (_post(),), *turns)


def test_the_checker_refuses_what_the_world_objects_to_and_nothing_else(
    environment: BfclEnvironment, asset: Asset, seed: Task
) -> None:
    rng = random.Random(7)
    made = [_drawn(seed, number, rng) for number in range(_TWEETS)]
    refused = [not verdict["valid"] for verdict in _judged(asset, made)]
    objected = [bool(environment.objection(task)) for task in made]
    assert objected == refused
    assert 0.2 * _TWEETS < sum(refused) < 0.9 * _TWEETS


def test_no_task_of_upstream_is_objected_to(
    environment: BfclEnvironment, tasks: dict[str, Task]
) -> None:
    assert not any(environment.objection(task) for task in tasks.values())


def _judged(asset: Asset, made: list[Task]) -> list[dict[str, Any]]:
    """The official verdicts on references as rollouts of their own tasks, each in a fork."""
    if not Path(asset.origin).is_file():
        pytest.skip("needs the wheel")
    truth = {t.id: [[render_call(c) for c in turn.reference] for turn in t.turns] for t in made}
    entries = {task.id: _entry(task) for task in made}
    recordings = [
        {"task_id": name, "trajectory": [[[call] for call in turn] for turn in turns]}
        for name, turns in truth.items()
    ]
    child = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("official_checker.py")), asset.origin],
        input="\n".join(map(json.dumps, [(entries, truth), *recordings])) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line) for line in child.stdout.splitlines()]


def _entry(task: Task) -> dict[str, Any]:
    state: dict[str, Any] = task.initial_state
    return {
        "id": task.id,
        "initial_config": state["config"],
        "involved_classes": state["classes"],
    }
