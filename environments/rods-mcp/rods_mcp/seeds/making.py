"""Tasks from walks: an initial state, turns of calls, words, and a proof that all of it repeats."""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping, Sequence
from typing import Any

from rods.errors import ConfigError
from rods.structure.constants import constants
from rods.structure.sources import Labeller
from rods.structure.trace import Trace, idle_turns
from rods.types import JsonObject, SourceKind, Split, Task, ToolCall, ToolSpec, Turn
from rods_mcp.config import McpConfig
from rods_mcp.probing import Open, Run, difference, refuse, run
from rods_mcp.seeds.exploring import Move, Walk, distinct
from rods_mcp.seeds.inventing import Inventor
from rods_mcp.seeds.values import Experience, Known
from rods_mcp.seeds.wording import worded

logger = logging.getLogger(__name__)

_DRAFTS = 8  # tried for each task that is wanted
_VALUES = 2  # that a turn names at least
_EXTRA = 2  # tries beyond the drawn number of calls
_SOURCED = frozenset({SourceKind.USER, SourceKind.RESULT, SourceKind.CONSTANT})


class SeedMaker:
    """Makes the tasks of one server; equal options give equal tasks."""

    def __init__(
        self,
        environment: str,
        specs: Mapping[str, ToolSpec],
        options: McpConfig,
        hints: Mapping[str, Any],
        open_session: Open,
        says: Mapping[str, Sequence[str]],
    ) -> None:
        self._environment, self._specs, self._options = environment, specs, options
        self._hints, self._open, self._says = hints, open_session, says
        self._labeller = Labeller(constants(specs))
        self._experience = Experience()
        self._uses: dict[str, int] = {}
        self._taken: set[str] = set()
        self._known: set[str] = set()

    def tasks(self) -> dict[Split, Sequence[Task]]:
        """Train and evaluation tasks; they share no calls, and no value that was invented."""
        train = self._split("train", self._options.n_train)
        return {"train": train, "eval": self._split("eval", self._options.n_eval)}

    def _split(self, split: Split, wanted: int) -> list[Task]:
        made: list[Task] = []
        for index in range(wanted * _DRAFTS):
            if len(made) == wanted:
                return made
            if not made and index == 2 * _DRAFTS:
                break
            rng = random.Random(f"{self._options.seed}/{split}/{index}")
            task = self._draft(split, rng)
            if task is not None:
                made.append(task.model_copy(update={"id": f"mcp-{split}-{len(made)}"}))
        if not made and wanted:
            raise ConfigError(
                f"Exploring the tools {', '.join(self._specs)} gave no task for the {split} split: "
                "no calls were found that change the state. Give tasks (environment.tasks), or "
                "declare what the state is (environment.state, environment.state_files)."
            )
        if len(made) < wanted:
            logger.warning("Exploring gave %d of %d %s tasks.", len(made), wanted, split)
        return made

    # ------------------------------------------------------------------ one task
    def _draft(self, split: Split, rng: random.Random) -> Task | None:
        inventor = Inventor(rng, self._taken)
        files = self._files(inventor, rng)
        blank = self._task(split, {"files": files} if files else {}, ())
        session = self._open(blank)
        try:
            walk = Walk(
                session,
                self._specs,
                rng,
                self._experience,
                self._hints,
                inventor,
                pool=[Known(name, "path") for name in files],
                tools=self._uses,
            )
            walk.look()
            setup = self._setup(walk)
            turns = self._turns(walk)
        finally:
            session.close()
        if not turns:
            return None
        state: JsonObject = {**blank.initial_state}
        if setup:
            state["calls"] = [move.call.model_dump(mode="json") for move in setup]
        return self._verified(self._task(split, state, self._worded(turns, rng)))

    def _files(self, inventor: Inventor, rng: random.Random) -> JsonObject:
        """Texts for the folder, where the declaration asks for some."""
        made: JsonObject = {}
        for _ in range(int(self._hints.get("files", 0))):
            name = inventor.text("file")
            if name is not None:
                made[name] = inventor.sentence() + "\n"
        return made

    def _setup(self, walk: Walk) -> list[Move]:
        """Calls that make something to act on."""
        writing = [n for n, s in self._specs.items() if s.effect != "read"]
        creating = self._hints.get("setup", writing)
        wanted = int(self._hints.get("setup_calls", 2))
        moves = [walk.step(creating) for _ in range(wanted if creating else 0)]
        walk.setting_up = False
        walk.moves.clear()
        return [move for move in moves if move is not None and move.changed]

    def _turns(self, walk: Walk) -> list[list[Move]]:
        """Turns that each change something, or show something that was asked for."""
        low, high = self._options.turns
        turns = []
        for _turn in range(walk.rng.randint(low, high)):
            moves = self._turn(walk)
            if sum(len(move.leaves) for move in moves) < _VALUES:
                return []
            turns.append(moves)
        return turns if any(m.changed for moves in turns for m in moves) else []

    def _turn(self, walk: Walk) -> list[Move]:
        """Calls of one turn; more than drawn where they name too little to be no lucky guess."""
        moves: list[Move] = []
        wanted = walk.rng.randint(1, self._options.calls)
        for _ in range(wanted + _EXTRA):
            enough = sum(len(move.leaves) for move in moves) >= _VALUES
            if len(moves) >= wanted and enough:
                break
            chained = bool(moves) and walk.rng.random() < 0.7
            move = walk.step(list(self._specs), chained=chained)
            if move is not None:
                moves.append(move)
        return moves

    def _worded(self, turns: Sequence[Sequence[Move]], rng: random.Random) -> tuple[Turn, ...]:
        made = []
        for index, moves in enumerate(turns):
            told = [(m.call, m.leaves, self._specs[m.call.name]) for m in moves]
            user = worded(told, self._says, index, rng)
            made.append(Turn(user=user, reference=tuple(m.call for m in moves)))
        return tuple(made)

    def _task(self, split: Split, state: JsonObject, turns: tuple[Turn, ...]) -> Task:
        return Task(
            id="explored",
            environment=self._environment,
            split=split,
            tools=tuple(self._specs),
            turns=turns,
            initial_state=state,
        )

    # ------------------------------------------------------------------ proof
    def _verified(self, task: Task) -> Task | None:
        """The task, if two runs agree, nothing fails or idles and every argument has a source."""
        calls = [call for turn in task.turns for call in turn.reference]
        if distinct(calls) in self._known:
            return None
        first, second = (run(self._open(task), task) for _ in range(2))
        found = difference(task, first, second)
        if found is not None:
            if self._options.probe:
                raise refuse(found, self._options.server)
            logger.warning("A task was left out: %s.", found)
            return None
        trace = _trace(task, calls, first)
        if trace.failed or idle_turns(task, trace) or not self._sourced(task, trace):
            return None
        self._known.add(distinct(calls))
        return task

    def _sourced(self, task: Task, trace: Trace) -> bool:
        return all(s.kind in _SOURCED for s in self._labeller.label(task, trace))


def _trace(task: Task, calls: Sequence[ToolCall], done: Run) -> Trace:
    turn_of = tuple(index for index, turn in enumerate(task.turns) for _ in turn.reference)
    states = {index - 1: state for index, state in enumerate(done.states)}
    return Trace(turn_of, tuple(calls), done.results, states, done.states[-1])
