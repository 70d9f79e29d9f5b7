"""How messages become tokens and tokens become messages: the one seam between text and policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rods.types import AssistantMessage, Message, ToolSpec


class Dialect(ABC):
    """Token in, token out: what was sampled is what is trained, history is never tokenised again.

    A conversation is ``prompt + (message + suffix)*``: ``prompt_ids`` ends where the policy begins
    to speak, a message ends with one of ``eos_ids``, ``suffix_ids`` is everything between that
    token and the point where the policy speaks again.
    """

    eos_ids: frozenset[int]

    @abstractmethod
    def prompt_ids(self, opening: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """The system message, tools and first user turn, up to the policy's first token."""

    @abstractmethod
    def suffix_ids(self, shown: Sequence[Message]) -> list[int]:
        """The tokens of tool and user messages shown after a message of the policy."""

    @abstractmethod
    def parse(self, ids: Sequence[int]) -> AssistantMessage:
        """The message that ``ids`` (with its last token in ``eos_ids``) say; never raises."""

    @abstractmethod
    def message_ids(self, message: AssistantMessage) -> list[int]:
        """The tokens that say ``message``, ending in one of ``eos_ids``: for supervised traces."""
