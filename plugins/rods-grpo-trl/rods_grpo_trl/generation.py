"""Who samples the tokens of a batch of conversations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from rods_grpo_trl.conversation import Conversation


class Generator(ABC):
    """Drives conversations to their end. Rows may advance independently of each other."""

    @abstractmethod
    def run(self, conversations: Sequence[Conversation]) -> None:
        """Sample until every conversation is done, by ``accept`` on each."""
