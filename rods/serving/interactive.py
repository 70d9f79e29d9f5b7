"""An episode driven call by call, for trainers and agents that are not ours.

It is reset to a task, called, told when the policy has finished a turn, asked how far it got, and
put back to where it was. Every world can be put back: what was said is said again in a fresh
episode, and every answer is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rods.digests import text_digest
from rods.episode import Episode, EpisodeLimits
from rods.errors import DataError, WorldError
from rods.interfaces import Environment
from rods.serving.records import Opening, Snapshot, Verdict, reached
from rods.serving.task_index import TaskIndex
from rods.types import AssistantMessage, JsonValue, Message, Task, ToolCall, ToolResult, ToolSpec

LIMITS = EpisodeLimits(max_steps_per_turn=64)  # a message is one call here, not several


class InteractiveEpisode:
    """One episode at a time, and as many as wanted one after the other."""

    def __init__(
        self,
        environment: Environment,
        limits: EpisodeLimits = LIMITS,
        index: TaskIndex | None = None,
    ) -> None:
        self.environment = environment
        self.limits = limits
        self.index = index or TaskIndex(environment)
        self._episode: Episode | None = None
        self._said: list[AssistantMessage] = []
        self._shown: list[str] = []

    # ---------------------------------------------------------------- play
    def reset(self, task: Task | str) -> Opening:
        """A fresh world in the task's initial state; what the policy is shown first.

        ``task`` is a task or the id of one. An episode that was going on ends.
        """
        if isinstance(task, Task):
            self.index.put([task])
        else:
            task = self.index.task(task)
        episode = Episode(self.environment, task, self.limits)
        self._begin(episode, [], [])
        self._refuse_outage()
        opening = {message.role: message.content for message in episode.opening()}
        self._refuse_outage()  # of a user who has to be asked
        return Opening(
            task_id=task.id,
            system=opening.get("system", ""),
            user=opening.get("user", ""),  # none: a user who left before a word
            tools=episode.tools,
        )

    def call(self, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
        """What the world answers, as the policy sees it; a bad call is a result with ``error``."""
        if not finite(arguments):
            return ToolResult(content=f"{name}: NaN and infinity are no JSON values.", error=True)
        call = ToolCall(name=name, arguments=arguments or {})
        shown = self._advance(AssistantMessage(calls=(call,)))
        if self.episode.stop == "max_steps":
            return ToolResult(content="Too many calls in one turn: the episode ends.", error=True)
        step = self.episode.trajectory.turns[-1][-1]
        return ToolResult(content=shown[0].content, error=step.results[0].error)

    def end_turn(self, content: str = "") -> str | None:
        """The policy's last words of this turn are said; the user's next message, None: done."""
        shown = self._advance(AssistantMessage(content=content))
        return shown[0].content if shown else None

    def close(self) -> None:
        """The world is closed; safe to call twice."""
        if self._episode is not None:
            self._episode.cut()

    # ---------------------------------------------------------------- how it stands
    @property
    def episode(self) -> Episode:
        """The present episode; DataError before the first ``reset``."""
        if self._episode is None:
            raise DataError("No episode has begun; reset to a task first.")
        return self._episode

    @property
    def started(self) -> bool:
        """There is an episode, going on or done."""
        return self._episode is not None

    @property
    def done(self) -> bool:
        """The episode takes no more calls."""
        return self.episode.done

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that may be called now; those handed over later come with the turn."""
        return self.episode.tools if not self.done else ()

    def progress(self) -> float:
        """The reward in [0, 1] if the episode ended now; turns not reached earn nothing.

        WorldError where an outage ended it: there is no reward then.
        """
        reward = self.verify().reward
        if reward is None:
            raise WorldError(f"The episode has no reward: {self._error}")
        return reward

    def verify(self) -> Verdict:
        """The environment's verdict on every turn; the episode goes on."""
        task, trajectory = self.episode.task, self.episode.trajectory
        reward, error = None, trajectory.error
        if trajectory.stop != "error":
            try:
                reward = self.environment.score(task, trajectory)
                reward = reached(reward, len(trajectory.turns))
            except WorldError as outage:
                error = str(outage)
        return Verdict(
            task_id=task.id,
            stop=self.episode.stop,
            reward=reward.value if reward else None,
            solved=reward.solved if reward else False,
            turns=reward.verdicts if reward else (),
            error=error,
        )

    # ---------------------------------------------------------------- there and back
    def snapshot(self) -> Snapshot:
        """The episode as it is now, as JSON; it restores as often as wanted."""
        return Snapshot(
            task_id=self.episode.task.id, messages=tuple(self._said), shown=tuple(self._shown)
        )

    def restore(self, snapshot: Snapshot) -> None:
        """The episode is where the snapshot was taken: a fresh world heard the same messages.

        WorldError where it answers otherwise than then; the present episode stays as it is.
        """
        task = self.index.task(snapshot.task_id)
        episode = Episode(self.environment, task, self.limits)
        try:
            _replay(episode, snapshot)
        except BaseException:
            episode.cut()
            raise
        self._begin(episode, snapshot.messages, snapshot.shown)

    # ---------------------------------------------------------------- inside
    def _begin(
        self, episode: Episode, said: Sequence[AssistantMessage], shown: Sequence[str]
    ) -> None:
        self.close()
        self._episode, self._said, self._shown = episode, list(said), list(shown)

    def _advance(self, message: AssistantMessage) -> tuple[Message, ...]:
        if self.done:
            self._refuse_outage()
            raise DataError(f"The episode has ended: {self.episode.stop}.")
        try:
            shown = self.episode.advance(message)
        except Exception as fault:  # a defect of the world: whatever it left behind earns nothing
            self.episode.cut("error", f"{type(fault).__name__}: {fault}")
            raise
        self._refuse_outage()
        self._said.append(message)
        self._shown.append(_digest(self.episode, shown))
        return shown

    def _refuse_outage(self) -> None:
        if self.episode.stop == "error":
            raise WorldError(f"The world is out of order, and the episode over: {self._error}")

    @property
    def _error(self) -> str:
        return self.episode.trajectory.error or "it cannot be scored now"


def finite(value: JsonValue) -> bool:
    """No number of the value is NaN or infinite, which JSON has no words for."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    return all(map(finite, value)) if isinstance(value, list) else True


def _replay(episode: Episode, snapshot: Snapshot) -> None:
    pairs = zip(snapshot.messages, snapshot.shown, strict=True)
    for number, (message, expected) in enumerate(pairs, start=1):
        if not episode.done and _digest(episode, episode.advance(message)) == expected:
            continue
        said = ", ".join(call.name for call in message.calls) or "the end of a turn"
        raise WorldError(
            f"Task {snapshot.task_id!r} cannot be restored: message {number} ({said}) was answered "
            f"otherwise than before ({episode.trajectory.error or 'no outage'}). The world does "
            "not repeat itself, or runs with other options."
        )


def _digest(episode: Episode, shown: Sequence[Message]) -> str:
    """SHA-256 of what was answered, and of whether the episode ended by it."""
    text = "\x1e".join(f"{m.role}\x1f{m.name or ''}\x1f{m.content}" for m in shown)
    return text_digest(f"{text}\x1d{episode.stop or ''}")
