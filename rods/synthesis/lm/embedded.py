"""SmolLM2 with 135 million parameters in this process, by llama.cpp, on one thread."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import xllamacpp
from dspy import lm15

from rods.synthesis.lm.config import EMBEDDED
from rods.synthesis.lm.scripted import messages_of
from rods.synthesis.lm.weights import open_weights

_CONTEXT = 2048  # tokens of each request
_AT_ONCE = 4
_LONGEST = 256  # tokens of an answer; what it says after that repeats itself


@cache
def embedded_backend() -> EmbeddedBackend:
    """The one instance of this process; loading takes seconds and 370 MB."""
    return EmbeddedBackend()


class EmbeddedBackend:
    """Chat completions without a server; calls from several threads are batched."""

    def __init__(self) -> None:
        self._server = xllamacpp.Server(_parameters())

    def complete(self, request: Any) -> Any:
        """The model's answer; what it refuses, such as a request too long, is an lm15 error."""
        answer = self._server.handle_chat_completions(_body(request))
        if isinstance(answer, str | bytes):
            answer = json.loads(answer)
        if "choices" not in answer:
            raise lm15.InvalidRequestError(json.dumps(answer)[:300])
        (choice,), used = answer["choices"], answer["usage"]
        return lm15.Response(
            id=None,
            model=EMBEDDED,
            message=lm15.Message.assistant([lm15.TextPart(choice["message"]["content"] or "")]),
            finish_reason="stop" if choice["finish_reason"] == "stop" else "length",
            usage=lm15.Usage(
                input_tokens=used["prompt_tokens"], output_tokens=used["completion_tokens"]
            ),
        )


def _parameters() -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(open_weights())
    parameters.n_ctx, parameters.n_parallel = _CONTEXT * _AT_ONCE, _AT_ONCE
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0  # threads that spin collapse on shared cores
    parameters.verbosity = 0
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    return parameters


def _body(request: Any) -> dict[str, Any]:
    config = request.config
    body: dict[str, Any] = {
        "messages": messages_of(request),
        "max_tokens": min(config.max_tokens or _LONGEST, _LONGEST),
        "temperature": config.temperature or 0.0,
    }
    if config.top_p is not None:
        body["top_p"] = config.top_p
    schema = (config.response_format or {}).get("schema")
    if schema:
        shape = {"name": "answer", "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif config.response_format:
        body["response_format"] = {"type": "json_object"}
    return body
