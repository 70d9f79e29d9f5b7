"""Plays tasks with a served model: many rollouts at a time, outages apart from failures."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from rods.episode import Episode
from rods.errors import ConfigError
from rods.interfaces import Environment
from rods.random_seeds import derived_seed
from rods.served.config import ServedConfig
from rods.served.conversation import Conversation, offered
from rods.types import Rollout, RolloutGroup, Task

_TOO_LONG = ("context length", "context_length", "maximum context", "too long", "max_model_len")


class ServedPolicy:
    """A model of an OpenAI-compatible server that calls tools by the protocol's own means."""

    def __init__(self, config: ServedConfig) -> None:
        self.config = config
        self.requests = self.tokens_in = self.tokens_out = self.written_calls = 0
        self._client = _client(config)
        self._counting = threading.Lock()

    def require(self) -> None:
        """The server answers and knows the model; a ConfigError says what to do where not."""
        import openai  # noqa: PLC0415 - an extra

        try:
            known = [model.id for model in self._client.with_options(max_retries=0).models.list()]
        except openai.NotFoundError:
            return  # answers, but lists no models
        except openai.APIStatusError as error:
            raise ConfigError(self._refused(error)) from error
        except openai.APIConnectionError as error:
            raise ConfigError(
                f"No server answers at {self.config.url} ({error}); start it, or give --lm-url."
            ) from error
        if known and self.config.model not in known:
            shown = ", ".join(sorted(known)[:5])
            raise ConfigError(
                f"{self.config.url} does not serve {self.config.model!r}, but {shown}; "
                "give one of them as --policy openai/NAME."
            )

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
        return {
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "calls_as_text": self.written_calls,
        }

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

        with self._counting:
            self.requests += 1
        try:
            answer = self._client.chat.completions.create(
                **self._request(episode, conversation, seed)
            )
        except (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError) as e:
            episode.cut("error", f"{self.config.url}: {e}")
            return None
        except openai.APIStatusError as error:
            if not any(words in str(error).lower() for words in _TOO_LONG):
                raise ConfigError(self._refused(error)) from error
            episode.cut("max_tokens")
            return None
        if not answer.choices:
            episode.cut("error", f"{self.config.url}: an answer without a message")
            return None
        self._count(answer)
        return answer.choices[0]

    def _request(self, episode: Episode, conversation: Conversation, seed: int) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.config.model,
            "messages": conversation.messages,
            "seed": seed,
        }
        if tools := list(offered(episode.tools)):
            request["tools"] = tools
        for key in ("temperature", "max_tokens"):
            if (value := getattr(self.config, key)) is not None:
                request[key] = value
        return request

    def _count(self, answer: Any) -> None:
        message = answer.choices[0].message
        with self._counting:
            if answer.usage is not None:
                self.tokens_in += answer.usage.prompt_tokens
                self.tokens_out += answer.usage.completion_tokens
            self.written_calls += not message.tool_calls and "<tool_call>" in (
                message.content or ""
            )

    def _refused(self, error: Any) -> str:
        fix = "look at the server's log"
        if error.status_code in (401, 403):
            fix = f"put the key into ${self.config.api_key_env}"
        return f"{self.config.url} refuses the request: {error}; {fix}."


def _client(config: ServedConfig) -> Any:
    """The library's client; no request is made yet."""
    try:
        import openai  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "A served policy needs the package openai: pip install 'rods[served]'."
        ) from error
    return openai.OpenAI(
        base_url=config.url,
        api_key=os.environ.get(config.api_key_env) or "none",  # local servers want none
        timeout=config.timeout_s,
        max_retries=config.retries,
    )
