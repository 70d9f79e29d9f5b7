"""An episode in the words of OpenAI's chat protocol, and the model's answers back in ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rods.types import AssistantMessage, Message, ToolCall, ToolSpec

WireMessage = dict[str, Any]


class Conversation:
    """What was said so far, as the server wants to hear it."""

    def __init__(self, opening: Sequence[Message]) -> None:
        self.messages: list[WireMessage] = [_said(message) for message in opening]
        self._asked: list[str] = []  # ids of the calls that wait for an answer

    def hear(self, answer: Any) -> AssistantMessage:
        """The model's message, parsed; ``answer`` is the server's ``choices[0].message``."""
        wanted = [call for call in answer.tool_calls or () if call.type == "function"]
        self._asked = [call.id for call in wanted]
        said: WireMessage = {"role": "assistant", "content": answer.content or ""}
        if wanted:
            said["tool_calls"] = [_repeated(call) for call in wanted]
        self.messages.append(said)
        return parsed(answer.content or "", wanted)

    def tell(self, messages: Sequence[Message]) -> None:
        """What the world and the user answered."""
        results = [m for m in messages if m.role == "tool"]
        if results and len(results) < len(self._asked):  # a malformed message: one answer for all
            results = results[:1] * len(self._asked)
        for asked, result in zip(self._asked, results, strict=False):
            self.messages.append({"role": "tool", "tool_call_id": asked, "content": result.content})
        self._asked = []
        self.messages += [_said(message) for message in messages if message.role != "tool"]


def parsed(content: str, wanted: Sequence[Any]) -> AssistantMessage:
    """The calls with their arguments; malformed where one of them is no JSON object."""
    try:
        calls = tuple(
            ToolCall(name=c.function.name, arguments=_arguments(c.function.arguments))
            for c in wanted
        )
    except ValueError as error:
        return AssistantMessage(content=content, malformed=str(error))
    return AssistantMessage(content=content, calls=calls)


def offered(tools: Sequence[ToolSpec]) -> Iterator[dict[str, Any]]:
    """The tools as the protocol describes them."""
    for tool in tools:
        yield {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }


def _said(message: Message) -> WireMessage:
    return {"role": message.role, "content": message.content}


def _arguments(text: str) -> dict[str, Any]:
    """Model output is data: nothing but a JSON object will do."""
    try:
        value = json.loads(text or "{}", parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError("the arguments are no JSON object")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _repeated(call: Any) -> dict[str, Any]:
    """The call as history; chat templates parse its arguments and fail where they are no JSON."""
    try:
        _arguments(call.function.arguments)
        arguments = call.function.arguments or "{}"
    except ValueError:
        arguments = "{}"
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.function.name, "arguments": arguments},
    }
