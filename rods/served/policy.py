"""Plays tasks with a served model: many rollouts at a time, outages apart from failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from rods.episode import Episode
from rods.errors import ConfigError
from rods.interfaces import Environment
from rods.random_seeds import derived_seed
from rods.served.config import SERVED, ServedConfig
from rods.served.conversation import Conversation, offered
from rods.served.server import Address, ServedModel
from rods.types import Rollout, RolloutGroup, Task

_TOO_LONG = ("context length", "context_length", "maximum context", "too long", "max_model_len")


class ServedPolicy:
    """A model of an OpenAI-compatible server that calls tools by the protocol's own means."""

    def __init__(self, config: ServedConfig) -> None:
        self.config = config
        self.written_calls = 0
        self._model = ServedModel(_address(config))
        self._counting = threading.Lock()

    def require(self) -> None:
        """The server answers and knows the model; a ConfigError says what to do where not."""
        self._model.require()

    def evaluate(
        self,
        tasks: Sequence[Task],
        environment: Environment,
        *,
        k: int,
        seed: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[RolloutGroup]:
        """k sampled rollouts of every task, in the order of ``tasks``."""
        jobs = [(task, index) for task in tasks for index in range(k)]
        pool = ThreadPoolExecutor(self.config.concurrency, thread_name_prefix="rods-served")
        try:
            waiting = [pool.submit(self._play, environment, *job, seed) for job in jobs]
            for done, future in enumerate(as_completed(waiting), start=1):
                future.result()  # a refusal ends the evaluation at once
                if progress is not None:
                    progress(done // k, len(tasks))
        finally:
            pool.shutdown(cancel_futures=True)
        rollouts = [future.result() for future in waiting]
        return [
            RolloutGroup(entry_id=task.id, task=task, rollouts=tuple(rollouts[i * k : (i + 1) * k]))
            for i, task in enumerate(tasks)
        ]

    def usage(self) -> dict[str, int]:
        """Requests and tokens so far, and answers that wrote a call as plain text."""
        return {**self._model.usage(), "calls_as_text": self.written_calls}

    # ---------------------------------------------------------------- one rollout
    def _play(self, environment: Environment, task: Task, index: int, seed: int) -> Rollout:
        episode = Episode(environment, task, self.config.limits)
        conversation = Conversation(episode.opening())
        sampling = derived_seed(seed, task.id, index, bits=31)  # which all servers take
        while not episode.done:
            choice = self._ask(episode, conversation, sampling)
            if choice is None:
                break
            if choice.finish_reason == "length":
                episode.cut("max_tokens")
                break
            conversation.tell(episode.advance(conversation.hear(choice.message)))
        return episode.finish()

    def _ask(self, episode: Episode, conversation: Conversation, seed: int) -> Any:
        """The server's choice; None where the episode was cut for want of one."""
        import openai  # noqa: PLC0415

        try:
            answer = self._model.ask(**self._request(episode, conversation, seed))
        except (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError) as e:
            episode.cut("error", f"{self.config.url}: {e}")
            return None
        except openai.APIStatusError as error:
            if not any(words in str(error).lower() for words in _TOO_LONG):
                raise ConfigError(self._model.refused(error)) from error
            episode.cut("max_tokens")
            return None
        if not answer.choices:
            episode.cut("error", f"{self.config.url}: an answer without a message")
            return None
        self._count(answer)
        return answer.choices[0]

    def _request(self, episode: Episode, conversation: Conversation, seed: int) -> dict[str, Any]:
        request: dict[str, Any] = {"messages": conversation.messages, "seed": seed}
        if tools := list(offered(episode.tools)):
            request["tools"] = tools
        for key in ("temperature", "max_tokens"):
            if (value := getattr(self.config, key)) is not None:
                request[key] = value
        return request

    def _count(self, answer: Any) -> None:
        message = answer.choices[0].message
        with self._counting:
            self.written_calls += not message.tool_calls and "<tool_call>" in (
                message.content or ""
            )


def _address(config: ServedConfig) -> Address:
    return Address(
        model=config.model,
        url=config.url,
        api_key_env=config.api_key_env,
        timeout_s=config.timeout_s,
        retries=config.retries,
        url_option="--lm-url",
        model_option=f"--policy {SERVED}NAME",
        what="A served policy",
        extra="rods[served]",
    )
