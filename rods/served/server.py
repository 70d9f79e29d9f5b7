"""A model of an OpenAI-compatible server: its client, whether it answers, and what was asked."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any

from rods.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is, and what users write to name another place or another model."""

    model: str  # as the server knows it
    url: str | None  # None: where the library goes by itself
    api_key_env: str
    timeout_s: float
    retries: int
    url_option: str
    model_option: str
    what: str  # "A served policy"
    extra: str  # what pip installs for it


class ServedModel:
    """One model of one server, asked from many threads. Nothing is sent before it is used."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.requests = self.tokens_in = self.tokens_out = 0
        self.client = _client(address)
        self.url = str(address.url or self.client.base_url)
        self._counting = threading.Lock()

    def require(self) -> None:
        """The server answers and knows the model; a ConfigError says what to do where not."""
        import openai  # noqa: PLC0415 - an extra

        try:
            known = [model.id for model in self.client.with_options(max_retries=0).models.list()]
        except openai.NotFoundError:
            return  # answers, but lists no models
        except openai.APIStatusError as error:
            raise ConfigError(self.refused(error)) from error
        except openai.APIConnectionError as error:
            raise ConfigError(
                f"No server answers at {self.url} ({error}); start it, or give "
                f"{self.address.url_option}."
            ) from error
        if known and self.address.model not in known:
            shown = ", ".join(sorted(known)[:5])
            raise ConfigError(
                f"{self.url} does not serve {self.address.model!r}, but {shown}; "
                f"give one of them as {self.address.model_option}."
            )

    def ask(self, **request: Any) -> Any:
        """The answer to a request for a completion, counted; what goes wrong is the library's."""
        with self._counting:
            self.requests += 1
        answer = self.client.chat.completions.create(model=self.address.model, **request)
        if answer.usage is not None:
            with self._counting:
                self.tokens_in += answer.usage.prompt_tokens
                self.tokens_out += answer.usage.completion_tokens
        return answer

    def usage(self) -> dict[str, int]:
        """Requests and tokens so far."""
        return {
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }

    def refused(self, error: Any) -> str:
        """A status that is no outage, in words, and what to do about it."""
        fix = "look at the server's log"
        if error.status_code in (401, 403):
            fix = f"put the key into ${self.address.api_key_env}"
        return f"{self.url} refuses the request: {error}; {fix}."


def _client(address: Address) -> Any:
    try:
        import openai  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            f"{address.what} needs the package openai: pip install {address.extra!r}."
        ) from error
    return openai.OpenAI(
        base_url=address.url,
        api_key=os.environ.get(address.api_key_env) or "none",  # local servers want none
        timeout=address.timeout_s,
        max_retries=address.retries,
    )
