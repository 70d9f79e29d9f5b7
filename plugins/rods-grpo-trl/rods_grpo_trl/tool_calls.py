"""Reading the tool calls of language models, as strictly as a training signal needs it.

A call that cannot be read is ``malformed``: taken for plain text it would end the turn and release
the next user message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from rods.types import AssistantMessage, ToolCall
from rods_grpo_trl.call_text import MalformedCallError, read_json

Reader = Callable[[str], AssistantMessage]

# What begins a call in some family of models: text that still holds one is no plain text.
MARKERS = (
    "<tool_call>", "</tool_call>", "<function=", "<|python_tag|>", "[TOOL_CALLS]", "<|tool_call",
    "<｜tool▁call", "<start_function_call>",
)  # fmt: skip
_TAGGED = re.compile(r"\s*<tool_call>(.*?)</tool_call>", re.DOTALL)
_NO_THOUGHT = re.compile(r"^\s*<think>\s*</think>")  # what a template may put before any answer
_NAME = re.compile(r"[^\s<>{}\"']+")
_PYTHON_TAG = "<|python_tag|>"
MAX_CHARS = 200_000


def read_tagged(text: str) -> AssistantMessage:
    """Calls as ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` (Qwen, Hermes)."""
    thought, said = split_thought(text)
    calls = tuple(_call(read_json(found), "arguments") for found in _TAGGED.findall(said))
    return message(thought + _TAGGED.sub("", said), calls)


def read_bare(text: str) -> AssistantMessage:
    """One call as a bare JSON object with ``name`` and ``parameters`` (Llama 3)."""
    thought, said = split_thought(text)
    body = said.strip().removeprefix(_PYTHON_TAG).strip()
    if said.strip().startswith(_PYTHON_TAG) or (body.startswith("{") and '"name"' in body):
        return message(thought, (_call(read_json(body), "parameters"),))
    return message(text, ())


def guarded(reader: Reader, text: str) -> AssistantMessage:
    """What ``reader`` makes of the text; ``malformed`` where it raises ``ValueError``."""
    try:
        if len(text) > MAX_CHARS:
            raise MalformedCallError("the message is too long")
        return reader(text)
    except ValueError as error:  # pydantic's refusal of a value is one as well
        known = isinstance(error, MalformedCallError)
        return AssistantMessage(content=text, malformed=str(error) if known else "broken value")


def message(content: str, calls: Sequence[ToolCall]) -> AssistantMessage:
    """A message of these calls; raises if the text beside them holds the marker of another one."""
    _, said = split_thought(content)
    if found := next((marker for marker in MARKERS if marker in said), None):
        raise MalformedCallError(f"unfinished or broken call near {found}")
    content = _NO_THOUGHT.sub("", content).strip()
    return AssistantMessage(content=content, calls=tuple(calls))


def split_thought(text: str) -> tuple[str, str]:
    """Reasoning up to the last ``</think>``, and what is said after it: only there are calls."""
    thought, closing, said = text.rpartition("</think>")
    return thought + closing, said


def call_of(name: object, arguments: object) -> ToolCall:
    """A call from parsed parts; raises unless they are a name and an object."""
    if isinstance(arguments, str):  # some models quote the whole object
        arguments = read_json(arguments)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MalformedCallError("a call needs the name of a tool")
    if not isinstance(arguments, dict):
        raise MalformedCallError("arguments must be a JSON object")
    return ToolCall(name=name, arguments=arguments)


def _call(value: Any, key: str) -> ToolCall:
    if not isinstance(value, dict):
        raise MalformedCallError("a call must be a JSON object")
    other = "arguments" if key == "parameters" else "parameters"
    return call_of(value.get("name"), value.get(key, value.get(other, {})))
