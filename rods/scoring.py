"""How a trajectory earns its progress reward.

The default: replay the reference beside the trajectory in two fresh worlds; after every turn
compare the states and require the reference's results among those seen so far. An environment with
its own rules overrides ``Environment.score``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from typing import Protocol

from rods.types import (
    EmptyTurnRule,
    JsonObject,
    ProgressReward,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    TurnVerdict,
)


class ReplaySession(Protocol):
    """What scoring needs of a world."""

    def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        ...

    def state(self) -> JsonObject:
        """The state that is compared."""
        ...

    def close(self) -> None:
        """Free the world."""
        ...


def replay_score(
    open_session: Callable[[Task], ReplaySession],
    task: Task,
    trajectory: Trajectory,
    empty_turns: EmptyTurnRule = "abstain",
) -> ProgressReward:
    """Replay reference and trajectory turn by turn; one verdict for every turn of the task."""
    with closing(open_session(task)) as reference, closing(open_session(task)) as replay:
        seen: Counter[str] = Counter()
        verdicts = []
        for index, turn in enumerate(task.turns):
            wanted = Counter(reference.call(call).content for call in turn.reference)
            steps = trajectory.turns[index] if index < len(trajectory.turns) else ()
            seen.update(replay.call(call).content for step in steps for call in step.executed)
            verdicts.append(
                TurnVerdict(
                    state_ok=index < len(trajectory.turns) and reference.state() == replay.state(),
                    response_ok=not (wanted - seen),
                    judged=bool(turn.reference),
                    acted=any(step.message.calls for step in steps),
                )
            )
        return ProgressReward(verdicts=tuple(verdicts), empty_turns=empty_turns)


def format_score(trajectory: Trajectory) -> float:
    """Share of the messages that hold a well-formed call or plain text; 0 for an empty rollout."""
    steps = [step for turn in trajectory.turns for step in turn]
    well_formed = sum(step.message.malformed is None for step in steps)
    return well_formed / len(steps) if steps and trajectory.stop == "completed" else 0.0
