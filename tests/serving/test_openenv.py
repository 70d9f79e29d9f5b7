"""An environment as OpenEnv wants it; without openenv, which wants another mcp, as a stand-in does.

The stand-in has the base classes that the export uses. With openenv on the path the same claims
hold for the real ones, and OpenEnv's own server and client run.
"""

from __future__ import annotations

import importlib.util
import socket
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rods.errors import ConfigError
from rods.serving import openenv
from rods.testing import FakeEnvironment
from rods.types import Task

REAL = importlib.util.find_spec("openenv") is not None
WORLD = FakeEnvironment()
TASKS = WORLD.tasks("train")
STAND_IN = {
    "types": """
        from typing import Any
        from pydantic import BaseModel, ConfigDict, Field

        class Action(BaseModel):
            model_config = ConfigDict(extra="forbid", validate_assignment=True)
            metadata: dict[str, Any] = Field(default_factory=dict)

        class Observation(BaseModel):
            model_config = ConfigDict(extra="forbid", validate_assignment=True)
            done: bool = False
            reward: bool | int | float | None = None
            metadata: dict[str, Any] = Field(default_factory=dict)

        class State(BaseModel):
            model_config = ConfigDict(extra="allow", validate_assignment=True)
            episode_id: str | None = None
            step_count: int = Field(0, ge=0)
        """,
    "interfaces": """
        from abc import ABC, abstractmethod

        class Environment(ABC):
            SUPPORTS_CONCURRENT_SESSIONS = False

            def __init__(self, transform=None, rubric=None):
                self.transform, self.rubric = transform, rubric

            @abstractmethod
            def reset(self, seed=None, episode_id=None, **kwargs): ...

            @abstractmethod
            def step(self, action, timeout_s=None, **kwargs): ...

            @property
            @abstractmethod
            def state(self): ...

            def close(self): ...
        """,
}


@pytest.fixture(autouse=True)
def _interface(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """OpenEnv's interface: the real one if it is there."""
    if not REAL:
        folder = tmp_path / "openenv" / "core" / "env_server"
        folder.mkdir(parents=True)
        for name, text in STAND_IN.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(tmp_path)
        openenv._classes.cache_clear()
    yield
    if not REAL:
        openenv._classes.cache_clear()
        for name in [name for name in sys.modules if name.split(".")[0] == "openenv"]:
            del sys.modules[name]


def play(environment: Any, made: openenv.OpenEnvExport, task: Task) -> list[Any]:
    """The observations of the reference."""
    seen = [environment.reset(task_id=task.id)]
    for turn in task.turns:
        for call in turn.reference:
            action = made.action(tool=call.name, arguments=call.arguments)
            seen.append(environment.step(action))
        seen.append(environment.step(made.action(message="Done.")))
    return seen


def test_the_reference_earns_one_at_the_end_and_silence_nothing() -> None:
    made = openenv.openenv_export(WORLD)
    environment = made.factory()
    for task in TASKS[:4]:
        seen = play(environment, made, task)
        assert [one.done for one in seen] == [False] * (len(seen) - 1) + [True]
        assert [one.reward for one in seen[:-1]] == [None] * (len(seen) - 1)
        assert seen[-1].reward == 1.0
        assert seen[-1].metadata["verdict"]["solved"]
        assert environment.state.step_count == len(seen) - 1
    environment.reset(task_id=TASKS[0].id)
    last = [environment.step(made.action()) for _ in TASKS[0].turns][-1]
    assert (last.done, last.reward) == (True, 0.0)
    environment.close()


def test_an_observation_says_what_the_policy_reads_and_may_call() -> None:
    task = next(task for task in TASKS if task.kind == "miss_func")
    made = openenv.openenv_export(WORLD)
    environment = made.factory()
    first = environment.reset(task_id=task.id, episode_id="mine")
    assert (first.text, first.role) == (task.turns[0].user, "user")
    assert first.system == WORLD.instructions(task)
    assert environment.state.episode_id == "mine"
    assert "cancel" not in [tool["name"] for tool in first.tools]
    refused = environment.step(made.action(tool="cancel", arguments={"order": "o-1"}))
    assert (refused.role, refused.error) == ("tool", True)
    for turn in task.turns[1:]:
        heard = environment.step(made.action(message="?"))
        assert heard.text == turn.user
    assert [tool["name"] for tool in heard.tools] == list(task.tools_at(len(task.turns)))
    assert made.observation.model_validate(heard.model_dump()) == heard


def test_tasks_are_listed_and_chosen() -> None:
    made = openenv.openenv_export(WORLD)
    environment = made.factory()
    assert environment.list_splits() == ["train", "eval"]
    assert environment.num_tasks("eval") == len(WORLD.tasks("eval"))
    assert [row["id"] for row in environment.list_tasks("train")] == [task.id for task in TASKS]
    chosen = environment.reset(split="eval", index=2)
    assert chosen.text == WORLD.tasks("eval")[2].turns[0].user
    first, second = environment.reset(), made.factory().reset()
    assert [first.text, second.text] == [task.turns[0].user for task in TASKS[:2]]
    assert environment.reset(seed=9).text == TASKS[9 % len(TASKS)].turns[0].user
    for split, index in (("test", 0), ("train", len(TASKS)), ("train", -1)):
        with pytest.raises(IndexError):
            environment.get_task(split, index)


def test_an_outage_ends_the_episode_without_a_reward() -> None:
    down = FakeEnvironment(FakeEnvironment.Config(outage_every=1))
    made = openenv.openenv_export(down)
    environment = made.factory()
    environment.reset()
    last = environment.step(made.action(tool="count", arguments={"item": "bolts"}))
    assert (last.done, last.reward, last.error) == (True, None, True)
    assert "does not answer" in last.text


@pytest.mark.skipif(REAL, reason="openenv is there")
def test_without_openenv_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "test_without_openenv" not in p])
    openenv._classes.cache_clear()
    with pytest.raises(ConfigError, match="pip install openenv"):
        openenv.openenv_export(WORLD)


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="openenv wants another mcp: see docs/exports.md")
@pytest.mark.filterwarnings("ignore")
def test_openenvs_own_server_and_client_play_it() -> None:
    import uvicorn  # noqa: PLC0415
    from openenv.core import GenericEnvClient, create_fastapi_app  # noqa: PLC0415

    made = openenv.openenv_export(WORLD)
    app = create_fastapi_app(made.factory, made.action, made.observation)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with GenericEnvClient(base_url=url).sync() as client:
                result = client.reset(task_id=TASKS[0].id)
                assert result.observation["text"] == TASKS[0].turns[0].user
                for turn in TASKS[0].turns:
                    for call in turn.reference:
                        client.step({"tool": call.name, "arguments": call.arguments})
                    result = client.step({"message": "Done."})
                assert (result.done, result.reward) == (True, 1.0)
        finally:
            server.should_exit = True
            thread.join(60)
