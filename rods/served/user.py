"""A language model as the user of a world: which one, what it says, and what it has cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from rods.errors import WorldError
from rods.interfaces import Component, Environment, Session, SimulatedUser
from rods.served.config import SERVED
from rods.served.conversation import Conversation, offered
from rods.served.server import Address, ServedModel
from rods.types import AssistantMessage, Message, Step, ToolResult, ToolSpec

SCRIPTED = "scripted"
MOST_STEPS = 50  # of a user who makes call after call; worlds with limits of their own have fewer


class UserOptions(Component.Config):
    """Who the user is, in worlds where a script or a language model can be one."""

    user: str = Field(
        SCRIPTED,
        description="Who speaks with the policy: 'scripted' says everything at once, openai/NAME "
        "is a language model, as in published scores.",
    )
    user_url: str | None = Field(
        None, description="The server of a user that is a model; unset: the OpenAI library's own."
    )
    user_key_env: str = Field(
        "OPENAI_API_KEY", description="Environment variable with that server's key."
    )
    user_timeout_s: float = Field(
        120.0, gt=0, description="Silence of that server after which a request has failed."
    )
    user_retries: int = Field(3, ge=0, description="Requests that repeat one that failed.")
    user_price_in: float = Field(0.0, ge=0, description="Price of a million tokens sent to users.")
    user_price_out: float = Field(0.0, ge=0, description="Price of a million tokens users say.")

    @model_validator(mode="after")
    def _known_user(self) -> Self:
        name = self.user
        if name != SCRIPTED and (not name.startswith(SERVED) or name == SERVED):
            raise ValueError(f"a user is {SCRIPTED!r} or {SERVED}NAME")
        if name == SCRIPTED and self.user_url is not None:
            raise ValueError(f"user_url is for a user that is a model: user={SERVED}NAME")
        return self

    @property
    def user_is_model(self) -> bool:
        """The user is a language model."""
        return self.user != SCRIPTED


class UserModel:
    """The model that plays all the users of an environment."""

    def __init__(self, options: UserOptions, extra: str) -> None:
        """``extra``: what pip installs for it."""
        self.name = options.user
        self._prices = (options.user_price_in, options.user_price_out)
        self._model = ServedModel(
            Address(
                model=options.user.removeprefix(SERVED),
                url=options.user_url,
                api_key_env=options.user_key_env,
                timeout_s=options.user_timeout_s,
                retries=options.user_retries,
                url_option="-o environment.user_url=URL",
                model_option=f"-o environment.user={SERVED}NAME",
                what="A language model as user",
                extra=extra,
            )
        )

    def require(self) -> None:
        """The server answers and knows the model; a ConfigError says what to do where not."""
        self._model.require()

    def usage(self) -> dict[str, float]:
        """Requests, tokens and, where prices are set, what they cost."""
        used: dict[str, float] = dict(self._model.usage())
        price_in, price_out = self._prices
        if price_in or price_out:
            used["price"] = (used["tokens_in"] * price_in + used["tokens_out"] * price_out) / 1e6
        return used

    def answer(self, **request: Any) -> Any:
        """The message of the server's answer; WorldError where there is none: an outage."""
        import openai  # noqa: PLC0415 - an extra

        try:
            answer = self._model.ask(**request)
        except openai.OpenAIError as error:
            raise WorldError(f"The user {self.name!r} does not answer: {error}") from error
        if not answer.choices:
            raise WorldError(f"The user {self.name!r} answers without a message.")
        return answer.choices[0].message


class ModelUser(SimulatedUser):
    """A language model with instructions. It may call tools of its own before it speaks.

    A message with one of ``stops`` in it ends the conversation, and the policy never sees it.
    """

    attempts: ClassVar[int] = 1
    """Requests for one message, where the answer is empty."""

    def __init__(
        self,
        model: UserModel,
        opening: Sequence[Message],
        stops: Sequence[str],
        *,
        tools: Sequence[ToolSpec] = (),
        sampling: Mapping[str, Any],
    ) -> None:
        """``opening``: the instructions, and what was said before, as the model hears it."""
        self._model, self._stops = model, tuple(stops)
        self._conversation = Conversation(opening)
        self._request = {**sampling, **({"tools": list(offered(tools))} if tools else {})}
        self._session: Session | None = None
        self._fresh: list[Step] = []

    def enter(self, session: Session) -> None:
        """Its calls run in this world."""
        self._session = session

    def opening(self) -> str | None:
        """What it wants, in words of its own."""
        return self.spoken()

    def reply(self, said: str) -> str | None:
        """Its answer; None when it ends the conversation."""
        self._conversation.tell([Message(role="user", content=said)])
        return self.spoken()

    def steps(self) -> Sequence[Step]:
        """Its messages since this was last asked, with the results of its calls."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def weary(self, fresh: Sequence[Step]) -> bool:
        """It makes no more calls before it speaks, and the conversation is over."""
        return False

    # ---------------------------------------------------------------- one turn
    @property
    def said(self) -> str:
        """Its last message."""
        return self._fresh[-1].message.content if self._fresh else ""

    def spoken(self) -> str | None:
        """The next words for the policy, after the calls that come before them."""
        while len(self._fresh) < MOST_STEPS:
            message = self._conversation.hear(self._answer())
            if not message.calls and message.malformed is None:
                self._fresh.append(Step(message=message))
                return None if self._ends(message.content) else message.content
            self._act(message)
            if self.weary(self._fresh):
                return None
        raise WorldError(f"The user {self._model.name!r} makes call after call and says nothing.")

    def _ends(self, content: str) -> bool:
        return any(stop in content for stop in self._stops)

    def _answer(self) -> Any:
        """The model's message; WorldError where it stays empty."""
        for _ in range(self.attempts):
            said = self._model.answer(messages=self._conversation.messages, **self._request)
            if said.tool_calls or (said.content or "").strip():
                return said
        raise WorldError(f"The user {self._model.name!r} answers with an empty message.")

    def _act(self, message: AssistantMessage) -> None:
        """Run the message's calls; the model hears the results, the policy does not."""
        assert self._session is not None
        if message.malformed is not None:
            said = f"Error: Malformed call: {message.malformed}"
            results = [ToolResult(content=said, error=True, refused=True)]
        else:
            results = [self._session.user_call(call) for call in message.calls]
        self._fresh.append(Step(message=message, results=tuple(results)))
        self._conversation.tell([Message(role="tool", content=r.content) for r in results])


class PeopledEnvironment(Environment):
    """A world whose users a language model can play; ``Config`` is of ``UserOptions``."""

    user_extra: ClassVar[str] = "rods[served]"
    """What pip installs for a user that is a model."""
    config: UserOptions

    @cached_property
    def user_model(self) -> UserModel:
        """The model that plays the users; nothing is sent before it is asked."""
        return UserModel(self.config, self.user_extra)

    def require_user(self) -> None:
        """The user's server answers and knows the model."""
        if self.config.user_is_model:
            self.user_model.require()

    def user_usage(self) -> Mapping[str, float]:
        """What the model was asked since the environment was made."""
        return self.user_model.usage() if self.config.user_is_model else {}
