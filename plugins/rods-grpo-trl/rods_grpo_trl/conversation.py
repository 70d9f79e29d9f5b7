"""One rollout at token level: an episode, its dialect, and the three aligned lists that train."""

from __future__ import annotations

from rods.episode import Episode
from rods.types import Rollout
from rods_grpo_trl.dialect import Dialect


class Conversation:
    """``completion_ids``, ``mask`` (1: sampled, 0: shown) and ``logprobs`` stay of equal length.

    ``budget`` bounds prompt and completion together; ``message_budget`` one message. Nothing that
    was sampled is ever tokenised again: ``prompt_ids + completion_ids`` is what the policy saw.
    """

    def __init__(
        self, episode: Episode, dialect: Dialect, *, budget: int, message_budget: int
    ) -> None:
        self.episode, self.dialect = episode, dialect
        self.budget, self.message_budget = budget, message_budget
        self.prompt_ids: list[int] = dialect.prompt_ids(episode.opening(), episode.tools)
        self.completion_ids: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] = []
        if self._left < 1:
            episode.cut("max_tokens")

    @property
    def done(self) -> bool:
        """No more tokens are wanted."""
        return self.episode.done

    @property
    def room(self) -> int:
        """How many tokens the next message may have: >= 1 unless done."""
        return 0 if self.done else min(self._left, self.message_budget)

    def accept(self, ids: list[int], logprobs: list[float] | None = None) -> list[int]:
        """Take one sampled message; the tokens shown after it (empty when the rollout is done).

        ``ids`` ends with an EOS of the dialect, or was cut at ``room`` and ends the episode.
        """
        if len(ids) > self.room:
            raise ValueError(f"A message of {len(ids)} tokens, where {self.room} were left.")
        self._append(ids, logprobs if logprobs is not None else [0.0] * len(ids), sampled=1)
        if not ids or ids[-1] not in self.dialect.eos_ids:
            self.episode.cut("max_tokens")
            return []
        shown = self.episode.advance(self.dialect.parse(ids))
        if self.episode.done:
            return []
        suffix = list(self.dialect.suffix_ids(shown))
        if len(suffix) >= self._left:  # no token would be left for an answer
            self.episode.cut("max_tokens")
            return []
        self._append(suffix, [0.0] * len(suffix), sampled=0)
        return suffix

    def finish(self, policy_version: int) -> Rollout:
        """Score the episode."""
        return self.episode.finish(policy_version)

    @property
    def _left(self) -> int:
        return self.budget - len(self.prompt_ids) - len(self.completion_ids)

    def _append(self, ids: list[int], logprobs: list[float], *, sampled: int) -> None:
        if len(logprobs) != len(ids):
            raise ValueError(f"{len(logprobs)} log-probabilities for {len(ids)} tokens.")
        self.completion_ids += ids
        self.mask += [sampled] * len(ids)
        self.logprobs += logprobs
