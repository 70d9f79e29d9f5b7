"""One rollout of one task, whoever generates the text.

An episode gives the messages to show, takes the policy's message, runs its calls, releases the next
user turn, ends, and holds the trajectory. Nothing else in rods knows how a conversation goes on.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from rods.errors import WorldError
from rods.interfaces import Environment, Session, SimulatedUser
from rods.types import (
    AssistantMessage,
    Message,
    Rollout,
    Step,
    StopReason,
    Task,
    ToolCall,
    ToolResult,
    ToolSpec,
    Trajectory,
)


class EpisodeLimits(BaseModel):
    """What ends an episode early; 20 messages with calls a turn is BFCL's force quit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_steps_per_turn: int = Field(20, ge=1, description="Messages with calls in one user turn.")
    max_calls_per_message: int = Field(64, ge=1, description="Calls run from one message.")
    max_user_turns: int = Field(
        30, ge=1, description="User turns where the world simulates the user."
    )
    refuse_hidden_tools: bool = Field(
        True, description="A tool that is not handed over yet is an error, not a call."
    )


def noisy(content: str, rng: random.Random) -> str:
    """The content with a field or a log line more, which answer nothing; all else is untouched."""
    request = f"{rng.getrandbits(32):08x}"
    field, value, line = rng.choice(
        (
            ("request_id", f'"{request}"', f"[log] request {request} done"),
            ("served_by", f'"node-{request[:4]}"', f"[log] served by node-{request[:4]}"),
            ("cache", '"miss"', f"[debug] cache miss for {request}"),
        )
    )
    bare = content.rstrip()
    if bare.startswith("{") and bare.endswith("}") and f'"{field}"' not in bare:
        inside = bare[:-1].rstrip()
        return f'{inside}{"" if inside == "{" else ", "}"{field}": {value}}}'
    return f"{content}\n{line}" if content else line


class Episode:
    """Drives one rollout: ``opening``, then ``advance`` until ``done``, then ``finish``."""

    def __init__(
        self,
        environment: Environment,
        task: Task,
        limits: EpisodeLimits | None = None,
        *,
        simulated: bool = True,
    ) -> None:
        """Not ``simulated``: the task's turns are said as they are written, whoever the user is."""
        self.environment = environment
        self.task = task
        self.limits = limits or EpisodeLimits()
        self.stop: StopReason | None = None
        self._error: str | None = None
        self._turn = 0
        self._steps: list[Step] = []
        self._turns: list[tuple[Step, ...]] = []
        self._users_turns: list[tuple[Step, ...]] = []
        self._answers = 0
        self._specs = environment.tools()
        self._visible = set(task.tools_at(0))
        self._user: SimulatedUser | None = None
        self._session: Session | None = None
        try:
            self._session = environment.open(task)
            self._user = environment.user(task) if simulated else None
            if self._user is not None:
                self._user.enter(self._session)
        except WorldError as error:
            self._end("error", str(error))

    # ---------------------------------------------------------------- what the policy sees
    @property
    def done(self) -> bool:
        """The episode takes no more messages."""
        return self.stop is not None

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools that may be called now."""
        return tuple(self._specs[name] for name in self.task.tools_at(self._turn))

    @property
    def trajectory(self) -> Trajectory:
        """What happened so far, with the steps of the open turn; ``max_tokens`` while it goes on.

        That is what it would be if it were cut now.
        """
        open_turn = (tuple(self._steps),) if self._steps else ()
        return Trajectory(
            task_id=self.task.id,
            turns=(*self._turns, *open_turn),
            user=tuple(self._users_turns),
            stop=self.stop or "max_tokens",
            error=self._error,
        )

    def opening(self) -> tuple[Message, ...]:
        """The system message, if the environment has instructions, and the first user turn."""
        instructions = self.environment.instructions(self.task)
        system = (Message(role="system", content=instructions),) if instructions else ()
        if self._user is None:
            return (*system, self._user_message())
        return (*system, *self._user.before(), *self._heard(self._user, self._user.opening))

    # ---------------------------------------------------------------- the policy's turn
    def advance(self, message: AssistantMessage) -> tuple[Message, ...]:
        """Run the message's calls; what the policy sees next, empty when the episode is done."""
        if self.done:
            raise RuntimeError(f"The episode of task {self.task.id!r} has ended: {self.stop}.")
        shown: tuple[Message, ...] = ()
        if message.malformed is not None:
            shown = self._answer(message, [self._refuse(f"Malformed call: {message.malformed}")])
        elif message.calls:
            try:
                results = [self._run(i, call) for i, call in enumerate(message.calls)]
            except WorldError as error:
                self._steps.append(Step(message=message))
                self._end("error", str(error))
                return ()
            shown = self._answer(message, results)
        else:
            self._steps.append(Step(message=message))
        if message.malformed is None and (message.ends_turn or not message.calls):
            return shown + self._end_turn(message)
        if self._is_over(max_steps=self.limits.max_steps_per_turn):
            self._end("max_steps")
            return ()
        return shown

    def cut(self, stop: StopReason = "max_tokens", error: str | None = None) -> None:
        """End the episode from outside: its token budget is spent, or its generator failed."""
        if not self.done:
            self._end(stop, error)

    def finish(self, policy_version: int = 0) -> Rollout:
        """Close the world and score the trajectory; no reward if an outage ended the episode."""
        self.cut("error", "the episode was finished before it was done")
        trajectory = self.trajectory
        reward = None
        if self.stop != "error":
            try:
                reward = self.environment.score(self.task, trajectory)
            except WorldError as error:
                trajectory = trajectory.model_copy(update={"stop": "error", "error": str(error)})
        return Rollout(trajectory=trajectory, reward=reward, policy_version=policy_version)

    # ---------------------------------------------------------------- inside
    def _run(self, position: int, call: ToolCall) -> ToolResult:
        assert self._session is not None
        if position >= self.limits.max_calls_per_message:
            return self._refuse(f"At most {self.limits.max_calls_per_message} calls a message.")
        if self.limits.refuse_hidden_tools and call.name not in self._visible:
            return self._refuse(f"There is no tool {call.name!r} here.")
        return self._session.call(call)

    @staticmethod
    def _refuse(text: str) -> ToolResult:
        return ToolResult(content=text, error=True, refused=True)

    def _answer(self, message: AssistantMessage, results: list[ToolResult]) -> tuple[Message, ...]:
        self._steps.append(Step(message=message, results=tuple(results)))
        names = ["invalid"] if message.malformed else [call.name for call in message.calls]
        return tuple(
            Message(role="tool", name=name, content=self._shown(result))
            for name, result in zip(names, results, strict=True)
        )

    def _shown(self, result: ToolResult) -> str:
        """The result as the policy sees it; the trajectory keeps the world's own."""
        self._answers += 1
        if self.task.noise is None or result.refused:
            return result.content
        return noisy(result.content, random.Random(f"{self.task.noise}/{self._answers}"))

    def _end_turn(self, message: AssistantMessage) -> tuple[Message, ...]:
        self._turns.append(tuple(self._steps))
        self._steps = []
        self._turn += 1
        if self._user is not None:
            return self._answered(self._user, message)
        if self._turn == len(self.task.turns):
            self._end("completed")
            return ()
        self._visible = set(self.task.tools_at(self._turn))
        return (self._user_message(),)

    def _answered(self, user: SimulatedUser, message: AssistantMessage) -> tuple[Message, ...]:
        """What a simulated user says to this; nothing if it is satisfied, or has said enough."""
        if user.keeps_limits and user.over(self.trajectory):
            self._end("max_steps")
            return ()
        return self._heard(user, lambda: user.reply(message.content))

    def _heard(self, user: SimulatedUser, speak: Callable[[], str | None]) -> tuple[Message, ...]:
        """The user's next message, kept with what the user did before it; none: it has ended."""
        try:
            reply = speak()
        except WorldError as error:
            self._keep(user, None)
            self._end("error", str(error))
            return ()
        self._keep(user, reply)
        if user.keeps_limits:
            cut = user.over(self.trajectory)
        else:
            cut = reply is not None and self._turn >= self.limits.max_user_turns
        if reply is not None and not cut:
            return (Message(role="user", content=reply),)
        self._end("max_steps" if cut else "completed")
        return ()

    def _keep(self, user: SimulatedUser, reply: str | None) -> None:
        """Add the user's turn to the trajectory: all that it did, or only what it returned."""
        said = () if reply is None else (Step(message=AssistantMessage(content=reply)),)
        self._users_turns.append(tuple(user.steps()) or said)

    def _is_over(self, *, max_steps: int) -> bool:
        """The policy has made as many steps in this turn as it may."""
        if self._user is not None and self._user.keeps_limits:
            return self._user.over(self.trajectory)
        return sum(bool(s.results) for s in self._steps) > max_steps

    def _user_message(self) -> Message:
        turn = self.task.turns[self._turn]
        reveals = tuple(self._specs[name] for name in turn.reveals)
        return Message(role="user", content=turn.user, reveals=reveals)

    def _end(self, stop: StopReason, error: str | None = None) -> None:
        if self._steps:
            self._turns.append(tuple(self._steps))
            self._steps = []
        self.stop, self._error = stop, error
        if self._session is not None:
            self._session.close()
