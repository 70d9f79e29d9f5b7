"""A language model as the customer: upstream's prompts, stop words, greeting and limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rods.served.user import ModelUser, UserModel
from rods.types import Message, Step, Task, ToolSpec, Trajectory
from rods_tau2.asset import GUIDELINES, Asset
from rods_tau2.upstream import load_upstream

ATTEMPTS = 4  # upstream repeats a request three times where the answer is empty
_HEARD_AS = {"user": "assistant", "assistant": "user"}


class Prompts:
    """What upstream tells the two sides, read from the asset."""

    def __init__(self, asset: Asset) -> None:
        self._asset, self._load = asset, load_upstream(asset).load

    def user(self, scenario: str, *, tools: bool) -> str:
        """A user's instructions; ``tools``: the user has some."""
        name = "simulation_guidelines_tools.md" if tools else "simulation_guidelines.md"
        template = self._load("tau2.user.user_simulator").SYSTEM_PROMPT
        guidelines = self._asset.text(f"{GUIDELINES}/{name}")
        filled = template.format(global_user_sim_guidelines=guidelines, instructions=scenario)
        return str(filled)

    def agent(self, policy: str) -> str:
        """The system prompt of an agent that keeps to the policy."""
        words: Any = self._load("tau2.agent.llm_agent")
        told = {"agent_instruction": words.AGENT_INSTRUCTION, "domain_policy": policy}
        return str(words.SYSTEM_PROMPT.format(**told))

    @property
    def greeting(self) -> str:
        """What the agent is made to say first."""
        return str(self._load("tau2.orchestrator.orchestrator").DEFAULT_FIRST_AGENT_MESSAGE.content)

    @property
    def stops(self) -> tuple[str, ...]:
        """Words with which a user ends the conversation."""
        words: Any = self._load("tau2.user.base")
        return (words.STOP, words.TRANSFER, words.OUT_OF_SCOPE)


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a conversation unsolved."""

    steps: int  # a message is one, and so are the answers of tools to it
    errors: int  # failed calls of either side

    def reached(self, steps: Sequence[Step]) -> bool:
        """By these messages of both sides."""
        taken = sum(1 + bool(step.results) for step in steps)
        failed = sum(result.error for step in steps for result in step.results)
        return taken >= self.steps or failed >= self.errors


class Tau2User(ModelUser):
    """Upstream's user simulator."""

    keeps_limits = True
    attempts = ATTEMPTS

    def __init__(
        self,
        model: UserModel,
        prompts: Prompts,
        task: Task,
        *,
        tools: Sequence[ToolSpec],
        limits: Limits,
        temperature: float | Literal["server"],
    ) -> None:
        history: Any = task.initial_state.get("history")
        greeting = {"role": "assistant", "content": prompts.greeting}
        self._before = [Message(**message) for message in history or [greeting]]
        told = prompts.user(task.turns[0].user, tools=bool(tools))
        super().__init__(
            model,
            [Message(role="system", content=told), *_turned(self._before)],
            prompts.stops,
            tools=tools,
            sampling={} if temperature == "server" else {"temperature": temperature},
        )
        self._limits, self._so_far = limits, list[Step]()

    def before(self) -> Sequence[Message]:
        """The agent's greeting, or what was said before the task begins."""
        return self._before

    def over(self, trajectory: Trajectory) -> bool:
        """Upstream's limits are reached, or the agent closed its turn without a word."""
        self._so_far = [s for side in (trajectory.user, trajectory.turns) for t in side for s in t]
        return self._limits.reached(self._so_far) or _says_nothing(trajectory)

    def weary(self, fresh: Sequence[Step]) -> bool:
        """The limits are reached while the user still makes calls."""
        return self._limits.reached([*self._so_far, *fresh])


def _turned(messages: Iterable[Message]) -> Iterator[Message]:
    """As the user hears them: the user's own are the model's."""
    for message in messages:
        yield message.model_copy(update={"role": _HEARD_AS[message.role]})


def _says_nothing(trajectory: Trajectory) -> bool:
    """Upstream takes neither text nor call for an error of the agent."""
    if not trajectory.turns:
        return False
    message = trajectory.turns[-1][-1].message
    silent = not message.calls and message.malformed is None
    return silent and not message.content.strip()
