"""A language model that a function plays: for tests, and for the first try of a new stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Reply = Callable[[str], str]


class ScriptedEngine:
    """Answers with ``reply(request)``, the request as one text: system, messages, schema left out.

    What ``reply`` raises reaches the caller like a fault of a server would. ``requests`` keeps all
    that was asked, ``schemas`` the JSON schema that came with each (None: none).
    """

    supports_response_schema = True
    supported_params = ("response_format", "temperature", "top_p", "max_tokens")

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.requests: list[str] = []
        self.schemas: list[Any] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptedEngine:
        return self

    def complete(self, request: Any) -> Any:
        """The scripted answer; a token is a word."""
        from dspy.lm15 import Message, Response, TextPart, Usage  # noqa: PLC0415 - dspy is slow

        asked = text_of(request)
        self.requests.append(asked)
        self.schemas.append(request.config.response_format)
        answer = self._reply(asked)
        sent, received = len(asked.split()), len(answer.split())
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant([TextPart(answer)]),
            finish_reason="stop",
            usage=Usage(input_tokens=sent, output_tokens=received),
        )


def text_of(request: Any) -> str:
    """The words of an lm15 request, one message after the other."""
    return "\n\n".join(message["content"] for message in messages_of(request))


def messages_of(request: Any) -> list[dict[str, str]]:
    """The texts of an lm15 request with their roles, the system's first."""
    system = request.system or ""
    if not isinstance(system, str):
        system = "".join(part.text for part in system)
    said = [{"role": message.role, "content": message.text or ""} for message in request.messages]
    return [{"role": "system", "content": system}, *said] if system else said
