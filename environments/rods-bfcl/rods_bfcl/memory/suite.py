"""The memory suite as the environment sees it: tasks, worlds, verdicts, and what comes before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any

from rods.errors import DataError, WorldError
from rods.types import JsonObject, ProgressReward, Rollout, Task, ToolSpec, Trajectory, TurnVerdict
from rods_bfcl.asset import Asset
from rods_bfcl.memory.backends import Backend, Backends
from rods_bfcl.memory.judging import final_answer, is_right
from rods_bfcl.memory.session import MemorySession
from rods_bfcl.memory.tasks import (
    SCENARIOS,
    documents_file,
    read_conversations,
    read_questions,
    with_memory,
)
from rods_bfcl.toolspecs import read_document

READS = ("retrieve", "list_keys", "key_search")
_HINT = " Note that the provided function is in Python 3 syntax."  # upstream adds it
Play = Callable[[Sequence[Task]], Sequence[Rollout]]
Chain = tuple[Backend, str]


class MemorySuite:
    """BFCL V4's memory tasks on some of the backends; for evaluation only."""

    def __init__(self, asset: Asset, backends: Sequence[Backend]) -> None:
        self._asset, self._names = asset, tuple(dict.fromkeys(backends))
        self._backends = Backends(asset)

    @property
    def protocol(self) -> str:
        """How the suite is played and judged, in a line."""
        return (
            f"BFCL V4 memory ({', '.join(self._names)}): the policy fills each memory in the "
            "official conversations, once for all its questions; the official answer check. "
            "Upstream's mean also has the backend vector."
        )

    @cached_property
    def _specs(self) -> Mapping[Backend, Mapping[str, ToolSpec]]:
        return {
            name: read_document(self._asset, documents_file(name), _is_read, hint=_HINT)
            for name in self._names
        }

    @cached_property
    def tools(self) -> Mapping[str, ToolSpec]:
        """The functions of all backends; no two share a name."""
        return {name: spec for specs in self._specs.values() for name, spec in specs.items()}

    @cached_property
    def questions(self) -> Sequence[Task]:
        """155 questions a backend, on empty memories."""
        specs = self._specs
        return [t for n in self._names for t in read_questions(self._asset, n, [*specs[n]])]

    # ------------------------------------------------------------------ what comes before
    def prepared(self, tasks: Sequence[Task], play: Play) -> list[Task]:
        """The questions over the memories that the policy fills: once a backend and scenario.

        All chains go on side by side; each conversation begins with the memory that the one
        before it left, and with nothing else of it.
        """
        chains = dict.fromkeys(_chain(task) for task in tasks)
        conversations = {chain: self._conversations(chain) for chain in chains}
        memories: dict[Chain, JsonObject] = {}
        for fellows in zip_longest(*conversations.values()):
            going = [(c, t) for c, t in zip(chains, fellows, strict=True) if t is not None]
            now = [with_memory(t, memories[c]) if c in memories else t for c, t in going]
            for (chain, _), task, rollout in zip(going, now, play(now), strict=True):
                memories[chain] = self._left_by(task, rollout)
        return [with_memory(task, memories[_chain(task)]) for task in tasks]

    def _conversations(self, chain: Chain) -> list[Task]:
        backend, scenario = chain
        if scenario not in SCENARIOS or backend not in self._names:
            raise DataError(f"BFCL has no memory conversations for {backend}, {scenario}.")
        return read_conversations(self._asset, backend, scenario, [*self._specs[backend]])

    def _left_by(self, task: Task, rollout: Rollout) -> JsonObject:
        """The memory after a conversation; one that was cut leaves what it wrote until then."""
        if rollout.trajectory.stop == "error":
            raise WorldError(
                f"The conversation {task.id}, which fills a memory, was ended by an outage "
                f"({rollout.trajectory.error}); its questions cannot be asked. Evaluate again."
            )
        session = self.open(task)
        for step in (step for turn in rollout.trajectory.turns for step in turn):
            for call in step.executed:
                session.call(call)
        return session.state()

    # ------------------------------------------------------------------ the world
    def open(self, task: Task) -> MemorySession:
        """The task's memory, for one rollout."""
        state: Any = task.initial_state
        return MemorySession(self._backends, state["backend"], state["memory"])

    def instructions(self, task: Task) -> str:
        """The official system message, with what is to be seen of the memory."""
        state: Any = task.initial_state
        text = self._backends.system_text(state["backend"], state["scenario"], state["memory"])
        return f"{text}\n\n{self._backends.answer_text}" if state["answers"] else text

    def score(self, task: Task, trajectory: Trajectory) -> ProgressReward:
        """1 for an answer that is right officially; conversations that fill are not judged."""
        state: Any = task.initial_state
        if not state["answers"]:
            return ProgressReward(verdicts=tuple(_unjudged() for _ in task.turns))
        answer = final_answer(trajectory)
        verdict = TurnVerdict(
            state_ok=True, response_ok=is_right(answer, state["answers"]), acted=bool(answer)
        )
        return ProgressReward(verdicts=(verdict,))


def _chain(task: Task) -> Chain:
    state: Any = task.initial_state
    return state["backend"], state["scenario"]


def _is_read(name: str) -> bool:
    return any(word in name for word in READS)


def _unjudged() -> TurnVerdict:
    return TurnVerdict(state_ok=True, response_ok=True, judged=False, acted=True)
