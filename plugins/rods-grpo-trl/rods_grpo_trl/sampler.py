"""Batched sampling on a CPU with a key-value cache a row: what a tiny policy needs to be fast.

``generate`` of transformers keeps all rows in step and computes a conversation's past again at each
of its turns. Here each row has its own place in a preallocated cache, so a row whose tool has
answered takes the answer in while others go on speaking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.generation import Generator
from rods_grpo_trl.llama_cache import LlamaCache, unsupported

__all__ = ["CachedSampler", "unsupported"]


@dataclass(slots=True)
class _Row:
    """One conversation: tokens it still has to read, and the message it is speaking."""

    conversation: Conversation
    unread: list[int]
    room: int
    message: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


class CachedSampler(Generator):
    """Samples with the model's present weights; equal seeds and conversations give equal tokens.

    ``temperature`` 0 is greedy; the log-probabilities are those of the distribution sampled from
    (of the untempered one when greedy). No truncation of the distribution (top_p = 1).
    ``max_rows`` bounds the memory: more conversations are sampled one batch after another.
    """

    def __init__(
        self,
        model: LlamaForCausalLM,
        eos_ids: frozenset[int],
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        max_rows: int = 128,
    ) -> None:
        if reason := unsupported(model):
            raise ValueError(f"CachedSampler cannot sample from this model: {reason}.")
        self.model, self.eos_ids, self.temperature = model, eos_ids, temperature
        self.max_rows = max_rows
        self.generator = generator if generator is not None else torch.Generator().manual_seed(0)

    @torch.inference_mode()
    def run(self, conversations: Sequence[Conversation]) -> None:
        """Sample until every conversation is done."""
        for start in range(0, len(conversations), self.max_rows):
            self._run(conversations[start : start + self.max_rows])

    def _run(self, conversations: Sequence[Conversation]) -> None:
        rows = [_Row(c, list(c.prompt_ids), c.room) for c in conversations if not c.done]
        length = max((row.conversation.budget for row in rows), default=0)
        cache = LlamaCache(self.model, len(rows), length)
        while rows:
            turn = _next_turn(rows)
            logits = cache.feed(turn, [rows[i].unread for i in turn])
            self._speak([rows[i] for i in turn], logits)
            rows = _compact(rows, cache)

    def _speak(self, rows: Sequence[_Row], logits: Tensor) -> None:
        """Each row takes its next token; a finished message is handed to its conversation."""
        tokens, logprobs = self._sample(logits)
        for row, token, logprob in zip(rows, tokens, logprobs, strict=True):
            row.message.append(token)
            row.logprobs.append(logprob)
            row.unread = [token]
            if token in self.eos_ids or len(row.message) >= row.room:
                shown = row.conversation.accept(row.message, row.logprobs)
                row.unread = [token, *shown]
                row.message, row.logprobs = [], []
                row.room = 0 if row.conversation.done else row.conversation.room

    def _sample(self, logits: Tensor) -> tuple[list[int], list[float]]:
        logprobs = torch.log_softmax(logits / (self.temperature or 1.0), -1)
        if self.temperature:  # the inverse distribution function: cheaper than multinomial
            mass = logprobs.exp().cumsum(-1)
            drawn = torch.rand(len(mass), 1, generator=self.generator) * mass[:, -1:]
            chosen = torch.searchsorted(mass, drawn, right=True).clamp(max=mass.shape[1] - 1)
        else:
            chosen = logprobs.argmax(-1, keepdim=True)
        return chosen[:, 0].tolist(), logprobs.gather(1, chosen)[:, 0].tolist()


def _next_turn(rows: Sequence[_Row]) -> list[int]:
    """The rows to feed next: those with one token to read, or those with more when they are many.

    Feeding a tool's answer beside single tokens would pad every row to its length.
    """
    going = [i for i, row in enumerate(rows) if not row.conversation.done]
    long = [i for i in going if len(rows[i].unread) > 1]
    short = [i for i in going if len(rows[i].unread) == 1]
    return long if not short or len(long) >= max(4, len(short) // 4) else short


def _compact(rows: list[_Row], cache: LlamaCache) -> list[_Row]:
    """Drop finished rows from the batch; the cache is copied only when a quarter is finished."""
    going = [i for i, row in enumerate(rows) if not row.conversation.done]
    if len(going) == len(rows) or (going and len(going) > 0.75 * len(rows)):
        return rows
    cache.keep(going)
    return [rows[i] for i in going]
