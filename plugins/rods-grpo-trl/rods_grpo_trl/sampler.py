"""Batched sampling on a CPU with a key-value cache a row: what a tiny policy needs to be fast.

``generate`` of transformers keeps all rows in step and computes a conversation's past again at each
of its turns. Here each row has its own place in a preallocated cache, so a row whose tool has
answered takes the answer in while others go on speaking. The arithmetic is Llama's, in fp32; the
tests hold its logits against the model's own forward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from rods_grpo_trl.conversation import Conversation
from rods_grpo_trl.generation import Generator

_MASKED = -1e30
_DENSE = 0.6  # share of the rows from which on all rows are computed


def unsupported(model: object) -> str | None:
    """Why ``CachedSampler`` cannot sample from the model; None if it can."""
    if not isinstance(model, LlamaForCausalLM):
        return f"it is a {type(model).__name__}, not a LlamaForCausalLM"
    wrong = {p.dtype for p in model.parameters()} - {torch.float32}
    if wrong or model.device.type != "cpu":
        return (
            f"its weights are {next(iter(wrong), torch.float32)} on {model.device}, not fp32 on cpu"
        )
    config = model.config
    if config.attention_bias or config.mlp_bias or config.hidden_act != "silu":
        return "it has biases or another activation than silu"
    return None


class LlamaCache:
    """Keys and values of B rows with room for ``length`` tokens each, and the forward pass on them.

    Weights are joined once at the start: make a new cache after every update of the model.
    """

    def __init__(self, model: LlamaForCausalLM, rows: int, length: int) -> None:
        config: Any = model.config
        self._body: Any = model.model
        self._head: Tensor = model.lm_head.weight
        self._heads: int = config.num_attention_heads
        self._kv: int = config.num_key_value_heads
        self._width: int = getattr(config, "head_dim", None) or config.hidden_size // self._heads
        self._eps: float = config.rms_norm_eps
        shape = (rows, self._kv, length, self._width)
        self._keys = [torch.zeros(shape) for _ in self._body.layers]
        self._values = [torch.zeros(shape) for _ in self._body.layers]
        self._slots = torch.arange(length)
        cos, sin = self._body.rotary_emb(torch.zeros(1, 1, 1), self._slots[None])
        self._cos, self._sin = cos[0], sin[0]  # (length, width)
        self._qkv = [
            torch.cat([a.q_proj.weight, a.k_proj.weight, a.v_proj.weight])
            for a in (layer.self_attn for layer in self._body.layers)
        ]
        self._gate_up = [
            torch.cat([m.gate_proj.weight, m.up_proj.weight])
            for m in (layer.mlp for layer in self._body.layers)
        ]
        self.used = torch.zeros(rows, dtype=torch.long)

    def keep(self, rows: Sequence[int]) -> None:
        """Forget all rows but these, which become rows 0, 1, ..."""
        index = torch.tensor(rows, dtype=torch.long)
        self.used = self.used[index]
        self._keys = [k[index] for k in self._keys]
        self._values = [v[index] for v in self._values]

    def feed(self, rows: Sequence[int], chunks: Sequence[Sequence[int]]) -> Tensor:
        """Append a non-empty chunk of tokens to each of the rows; logits behind it, (rows, V)."""
        total = len(self.used)
        if _DENSE * total <= len(rows) < total:  # cheaper than to gather the rows' caches
            given = dict(zip(rows, chunks, strict=True))
            return self.feed(range(total), [given.get(i, ()) for i in range(total)])[list(rows)]
        longest = max(len(chunk) for chunk in chunks)
        padding = [longest - len(chunk) for chunk in chunks]  # on the left: the last token is last
        ids = torch.tensor([[0] * n + list(c) for n, c in zip(padding, chunks, strict=True)])
        real = torch.arange(longest)[None] >= torch.tensor(padding)[:, None]
        index = torch.tensor(rows, dtype=torch.long)
        place = _Place.of(index, real, self.used[index], total)
        self.used[index] += real.sum(1)
        rotation = self._cos[place.positions][:, :, None], self._sin[place.positions][:, :, None]
        mask = self._mask(place)
        x = self._body.embed_tokens.weight[ids]
        for number in range(len(self._keys)):
            x = x + self._attend(number, x, place, rotation, mask)
            x = x + self._mlp(number, x)
        return functional.linear(self._norm(x[:, -1], self._body.norm.weight), self._head)

    # ---------------------------------------------------------------- one layer
    def _attend(
        self, number: int, x: Tensor, place: _Place, rotation: tuple[Tensor, Tensor], mask: Tensor
    ) -> Tensor:
        """Grouped-query attention of (B, M, H) over the rows' caches, which get the new entries."""
        layer, (b, m, _) = self._body.layers[number], x.shape
        heads, kv, width = self._heads, self._kv, self._width
        hidden = self._norm(x, layer.input_layernorm.weight)
        sizes = [heads * width, kv * width, kv * width]
        q, k, v = torch.split(functional.linear(hidden, self._qkv[number]), sizes, -1)
        q = _rotate(q.view(b, m, heads, width), *rotation)
        k = _rotate(k.view(b, m, kv, width), *rotation)
        keys = place.store(self._keys[number], k)
        values = place.store(self._values[number], v.view(b, m, kv, width))
        group = heads // kv
        q = q.view(b, m, kv, group, width).permute(0, 2, 3, 1, 4).reshape(b, kv, group * m, width)
        scores = torch.matmul(q * width**-0.5, keys.transpose(2, 3)) + mask
        out = torch.matmul(torch.softmax(scores, -1), values)
        out = out.view(b, kv, group, m, width).permute(0, 3, 1, 2, 4).reshape(b, m, heads * width)
        return functional.linear(out, layer.self_attn.o_proj.weight)

    def _mlp(self, number: int, x: Tensor) -> Tensor:
        layer = self._body.layers[number]
        hidden = self._norm(x, layer.post_attention_layernorm.weight)
        gate, up = functional.linear(hidden, self._gate_up[number]).chunk(2, -1)
        return functional.linear(functional.silu(gate) * up, layer.mlp.down_proj.weight)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self._eps)

    def _mask(self, place: _Place) -> Tensor:
        """(B, 1, group * M, slots): a token sees the slots up to its own."""
        hidden = self._slots[: place.slots] > place.positions[:, :, None]
        mask = torch.zeros(hidden.shape).masked_fill_(hidden, _MASKED)
        return mask[:, None].repeat(1, 1, self._heads // self._kv, 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the new tokens go: chunk (B, M) with padding -> (row, slot) of the cache."""

    rows: Tensor  # (B,)
    positions: Tensor  # (B, M), padding at 0
    source: tuple[Tensor, Tensor]  # chunk coordinates of the real tokens, (n,) each
    target: tuple[Tensor, Tensor]  # their rows and slots, (n,) each
    slots: int  # slots in use by any of the rows
    whole: bool  # the rows are all rows in order

    @classmethod
    def of(cls, rows: Tensor, real: Tensor, used: Tensor, total: int) -> _Place:
        positions = (used[:, None] + real.long().cumsum(1) - 1).clamp(min=0)
        chunk, column = real.nonzero(as_tuple=True)
        return cls(
            rows=rows,
            positions=positions,
            source=(chunk, column),
            target=(rows[chunk], positions[chunk, column]),
            slots=int(positions.max()) + 1,
            whole=len(rows) == total and bool((rows == torch.arange(total)).all()),
        )

    def store(self, cache: Tensor, new: Tensor) -> Tensor:
        """Write the new entries (B, M, kv, width); the rows' entries (B, kv, slots, width)."""
        row, slot = self.target
        cache[row, :, slot] = new[self.source]
        return cache[:, :, : self.slots] if self.whole else cache[self.rows, :, : self.slots]


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


# ------------------------------------------------------------------------------- sampling
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

    @torch.no_grad()
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
        if self.temperature:
            chosen = torch.multinomial(logprobs.exp(), 1, generator=self.generator)
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
    return long if not short or len(long) >= max(4, len(short) // 3) else short


def _compact(rows: list[_Row], cache: LlamaCache) -> list[_Row]:
    """Drop finished rows from the batch; the cache is copied only when a quarter is finished."""
    going = [i for i, row in enumerate(rows) if not row.conversation.done]
    if len(going) == len(rows) or (going and len(going) > 0.75 * len(rows)):
        return rows
    cache.keep(going)
    return [rows[i] for i in going]
