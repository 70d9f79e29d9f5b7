"""A dialect for tiny policies: calls without JSON, no tool documentation, one control token a role.

::

    <user> text <assistant> call<go> <tool> result <assistant> call<end> <tool> result <user> ...

A message holds calls, one a line, behind its words, if any, as a JSON string. ``<go>`` runs the
calls and lets the policy speak again, ``<end>`` runs them and ends the turn: no closing message is
needed. The policy gets neither instructions nor schemas, it knows its world from the warm start; a
tool handed over, or one of few that are missing, is named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from transformers import PreTrainedTokenizerFast

from rods.types import AssistantMessage, Message, ToolSpec
from rods_grpo_trl.call_text import (
    MAX_CHARS,
    MalformedCallError,
    read_call,
    read_string,
    say_call,
)
from rods_grpo_trl.dialect import Dialect

CONTROL_TOKENS = ("<pad>", "<system>", "<user>", "<assistant>", "<tool>", "<go>", "<end>")
MAX_NAMED_MISSING = 4  # more missing tools than this are not named: they are other worlds' tools


class CompactDialect(Dialect):
    """Messages in the fewest tokens, for any environment whose tool names are single words.

    ``tools`` are all tools of the environment: values stand in their schemas' order.
    ``max_shown`` bounds the tokens of one tool result; a longer one loses its end.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        tools: Mapping[str, ToolSpec],
        *,
        max_shown: int = 96,
    ) -> None:
        self.tokenizer, self.tools, self.max_shown = tokenizer, dict(tools), max_shown
        self._backend = tokenizer.backend_tokenizer
        vocabulary = self._backend.get_vocab()
        if lacking := [token for token in CONTROL_TOKENS if token not in vocabulary]:
            raise ValueError(f"The tokenizer lacks the control tokens {', '.join(lacking)}.")
        ids = [vocabulary[token] for token in CONTROL_TOKENS]
        self._control = frozenset(ids)
        _, self._system, self._user, self._assistant, self._tool, self._go, self._end = ids
        self.eos_ids = frozenset((self._go, self._end))

    # ---------------------------------------------------------------- shown to the policy
    def prompt_ids(self, opening: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """The first user turn; before it the names of missing tools, if they are few."""
        missing = sorted(self.tools.keys() - {tool.name for tool in tools})
        named = missing if len(missing) <= MAX_NAMED_MISSING else []
        system = [self._system, *self._encode(" ".join(named))] if named else []
        shown = [message for message in opening if message.role != "system"]
        return system + self.suffix_ids(shown)

    def suffix_ids(self, shown: Sequence[Message]) -> list[int]:
        """Tool and user messages, each behind its control token, then the policy's."""
        ids: list[int] = []
        for message in shown:
            ids += self._user_ids(message) if message.role == "user" else self._tool_ids(message)
        return [*ids, self._assistant]

    def _user_ids(self, message: Message) -> list[int]:
        names = " ".join(tool.name for tool in message.reveals)
        revealed = [self._system, *self._encode(names)] if names else []
        return [*revealed, self._user, *self._encode(message.content)]

    def _tool_ids(self, message: Message) -> list[int]:
        return [self._tool, *self._encode(plain_text(message.content))[: self.max_shown]]

    # ---------------------------------------------------------------- said by the policy
    def message_ids(self, message: AssistantMessage) -> list[int]:
        """The tokens that say ``message``; it ends the turn if it says so or holds no call."""
        lines = [json.dumps(message.content)] if message.content else []
        lines += [say_call(call, self.tools) for call in message.calls]
        goes_on = message.calls and not message.ends_turn
        return [*self._encode("\n ".join(lines)), self._go if goes_on else self._end]

    def parse(self, ids: Sequence[int]) -> AssistantMessage:
        """The message that ``ids`` say; what is no call is ``malformed`` with a short reason."""
        ends_turn = bool(ids) and ids[-1] == self._end
        body = ids[:-1] if ids and ids[-1] in self.eos_ids else ids
        try:
            if not self._control.isdisjoint(body):
                raise MalformedCallError("control token")
            return self._read(self._backend.decode(list(body)), ends_turn)
        except ValueError as error:  # also what a record refuses
            reason = str(error) if isinstance(error, MalformedCallError) else "broken value"
            return AssistantMessage(malformed=reason)

    def _read(self, text: str, ends_turn: bool) -> AssistantMessage:
        if len(text) > MAX_CHARS:
            raise MalformedCallError("too long")
        content, rest = "", text.strip()
        if rest.startswith('"'):
            content, rest = read_string(rest)
            if rest and not rest.startswith("\n"):
                raise MalformedCallError("text behind a string")
        lines = [line for line in rest.split("\n") if line.strip()]
        if not lines and not ends_turn:
            raise MalformedCallError("no call")
        calls = tuple(read_call(line, self.tools) for line in lines)
        return AssistantMessage(content=content, calls=calls, ends_turn=ends_turn)

    def _encode(self, text: str) -> list[int]:
        """Text as tokens; a space goes before it: a word is one token wherever it stands."""
        if not text:
            return []
        ids: list[int] = self._backend.encode(f" {text}", add_special_tokens=False).ids
        return ids


def plain_text(content: str) -> str:
    """A tool's result without JSON's punctuation: ``{"day": 12}`` reads ``day 12``."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    return " ".join(_words(value)) if isinstance(value, dict | list) else content


def _words(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value)
