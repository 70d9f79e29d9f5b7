"""What an interactive episode tells: how it opens, how it goes, and where it was."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from rods.types import AssistantMessage, ProgressReward, ToolSpec, TurnVerdict
from rods.types.base import Record, StopReason


class Opening(Record):
    """What the policy is shown first."""

    task_id: str
    system: str  # empty: the world has no instructions
    user: str
    tools: tuple[ToolSpec, ...]


class Verdict(Record):
    """The environment's judgement, turn by turn, as if the episode ended now.

    ``stop`` is None while it goes on. ``reward`` is None where an outage ended it: never a zero.
    """

    task_id: str
    stop: StopReason | None
    reward: float | None
    solved: bool
    turns: tuple[TurnVerdict, ...]
    error: str | None = None


class Snapshot(Record):
    """An episode as what was said in it: plain JSON that restores in any session, or process.

    ``shown`` has a SHA-256 for each message: of what the world and the user answered to it.
    """

    task_id: str
    messages: tuple[AssistantMessage, ...]
    shown: tuple[str, ...]

    @model_validator(mode="after")
    def _an_answer_for_each(self) -> Self:
        if len(self.messages) != len(self.shown):
            raise ValueError("messages and shown differ in length")
        return self


def reached(reward: ProgressReward, turns: int) -> ProgressReward:
    """The reward in which turns after the first ``turns`` earn nothing, whatever they want.

    A turn that asks for no call is not passed by never getting there.
    """
    verdicts = tuple(
        verdict if index < turns else _not_reached(verdict, reward.empty_turns == "judged")
        for index, verdict in enumerate(reward.verdicts)
    )
    return reward.model_copy(update={"verdicts": verdicts})


def _not_reached(verdict: TurnVerdict, only_judged: bool) -> TurnVerdict:
    judged = verdict.judged or not only_judged
    return TurnVerdict(state_ok=False, response_ok=False, judged=judged, acted=False)
