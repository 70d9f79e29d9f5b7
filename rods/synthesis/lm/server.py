"""An OpenAI-compatible server (vLLM, llama.cpp, a hosted API) through dspy's own HTTP client."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from dspy import lm15
from dspy._vendor.lm15.transports import StdlibTransport  # not exported elsewhere

from rods.synthesis.lm.config import ModelConfig
from rods.synthesis.lm.kinds import HOSTED, served_name

_CONNECT_S = 10.0


class ServerBackend:
    """Sends chat completions, JSON schemas included; litellm is never loaded."""

    def __init__(self, config: ModelConfig) -> None:
        self._model = served_name(config)
        self._client = lm15.OpenAIChatLM(
            api_key=os.environ.get(config.api_key_env) or "none",  # local servers want none
            base_url=config.url.rstrip("/") or HOSTED,
            compat=lm15.OpenAIChatCompat.preset("vllm") if config.url else None,
            transport=StdlibTransport(
                connect_timeout=min(_CONNECT_S, config.timeout_s), read_timeout=config.timeout_s
            ),
        )

    def complete(self, request: Any) -> Any:
        """The server's answer."""
        return self._client.complete(replace(request, model=self._model))
