"""One rollout at token level: an episode, its dialect, and the three aligned lists that train."""

from __future__ import annotations

from rods.episode import Episode
from rods.types import Rollout
from rods_grpo_trl.dialect import Dialect


class Conversation:
    """``completion_ids``, ``mask`` (1: sampled, 0: shown) and ``logprobs`` stay of equal length.

    ``budget`` bounds prompt and completion together; ``message_budget`` one message.
    """

    def __init__(
        self, episode: Episode, dialect: Dialect, *, budget: int, message_budget: int
    ) -> None: ...

    prompt_ids: list[int]
    completion_ids: list[int]
    mask: list[int]
    logprobs: list[float]

    @property
    def done(self) -> bool:
        """No more tokens are wanted."""
        ...

    @property
    def room(self) -> int:
        """How many tokens the next message may have: >= 1 unless done."""
        ...

    def accept(self, ids: list[int], logprobs: list[float] | None = None) -> list[int]:
        """Take one sampled message; the tokens shown after it (empty when the rollout is done).

        ``ids`` ends with an EOS of the dialect, or was cut at ``room`` and ends the episode.
        """
        ...

    def finish(self, policy_version: int) -> Rollout:
        """Score the episode."""
        ...
