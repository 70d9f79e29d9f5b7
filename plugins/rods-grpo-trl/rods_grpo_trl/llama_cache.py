"""Llama's forward pass on rows of unequal progress, each with its own place in a cache, in fp32.

Only real tokens go through the matrices: a row that has nothing to read costs nothing but its place
in the attention. The tests hold the logits against the model's own forward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

_MASKED = -1e30
_DENSE = 0.6  # share of the rows from which on attention is computed for all of them


def unsupported(model: object) -> str | None:
    """Why ``LlamaCache`` cannot compute the model; None if it can."""
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
    """Keys and values of B rows with room for ``length`` tokens each.

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
        shape = (rows * self._kv, length, self._width)  # a key-value head of a row is a row here
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
        heads = _heads_of(index, self._kv).flatten()
        self._keys = [k[heads] for k in self._keys]
        self._values = [v[heads] for v in self._values]

    def feed(self, rows: Sequence[int], chunks: Sequence[Sequence[int]]) -> Tensor:
        """Append a non-empty chunk of tokens to each of the rows; logits behind it, (rows, V)."""
        place = _Place.of(rows, chunks, self.used, self._kv)
        self.used[torch.tensor(rows, dtype=torch.long)] += place.lengths
        rotation = self._cos[place.slot][:, None], self._sin[place.slot][:, None]
        mask = self._mask(place)
        x = self._body.embed_tokens.weight[[token for chunk in chunks for token in chunk]]  # (N, H)
        for number in range(len(self._keys)):
            x = x + self._attend(number, x, place, rotation, mask)
            x = x + self._mlp(number, x)
        last = x[place.lengths.cumsum(0) - 1]
        return functional.linear(self._norm(last, self._body.norm.weight), self._head)

    # ---------------------------------------------------------------- one layer
    def _attend(
        self, number: int, x: Tensor, place: _Place, rotation: tuple[Tensor, Tensor], mask: Tensor
    ) -> Tensor:
        """Grouped-query attention of the tokens (N, H) over their rows' caches."""
        layer, heads, kv, width = self._body.layers[number], self._heads, self._kv, self._width
        hidden = self._norm(x, layer.input_layernorm.weight)
        sizes = [heads * width, kv * width, kv * width]
        q, k, v = torch.split(functional.linear(hidden, self._qkv[number]), sizes, -1)
        q = _rotate(q.view(-1, heads, width), *rotation) * width**-0.5
        keys = place.store(self._keys[number], _rotate(k.view(-1, kv, width), *rotation))
        values = place.store(self._values[number], v.view(-1, kv, width))
        b, m, group = place.attending, place.longest, heads // kv
        q = place.spread(q).view(b, m, kv, group, width).permute(0, 2, 3, 1, 4)
        q = q.reshape(b * kv, group * m, width)
        scores = torch.baddbmm(mask, q, keys.transpose(1, 2))
        out = torch.bmm(torch.softmax(scores, -1), values)
        out = out.view(b, kv, group, m, width).permute(0, 3, 1, 2, 4).reshape(b, m, heads * width)
        return functional.linear(place.collect(out), layer.self_attn.o_proj.weight)

    def _mlp(self, number: int, x: Tensor) -> Tensor:
        layer = self._body.layers[number]
        hidden = self._norm(x, layer.post_attention_layernorm.weight)
        gate, up = functional.linear(hidden, self._gate_up[number]).chunk(2, -1)
        return functional.linear(functional.silu(gate) * up, layer.mlp.down_proj.weight)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self._eps)

    def _mask(self, place: _Place) -> Tensor:
        """(B * kv, group * M, slots): a token sees the slots up to its own."""
        own = place.spread(place.slot[:, None, None])[:, :, 0]  # (B, M, 1)
        hidden = self._slots[: place.slots] > own
        mask = torch.zeros(hidden.shape).masked_fill_(hidden, _MASKED)
        mask = mask.repeat(1, self._heads // self._kv, 1)
        return mask.repeat_interleave(self._kv, 0)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where N new tokens stand: in the cache, and in a padded block (B, M) for the attention."""

    lengths: Tensor  # of the chunks, (rows,)
    slot: Tensor  # of each token in its row, (N,)
    target: tuple[Tensor, Tensor]  # of each token's heads in the cache, (N, kv) each
    block: tuple[Tensor, Tensor] | None  # of each token in the block; None: one token a row
    gathered: Tensor | None  # heads of the cache that attend, (B * kv,); None: all
    attending: int  # B
    longest: int  # M
    slots: int  # in use in any of the rows

    @classmethod
    def of(
        cls, rows: Sequence[int], chunks: Sequence[Sequence[int]], used: Tensor, kv: int
    ) -> _Place:
        """Few rows are gathered from the cache; of many, the idle ones attend for nothing."""
        dense = len(rows) >= _DENSE * len(used)
        lengths = torch.tensor([len(chunk) for chunk in chunks])
        index = torch.tensor(rows, dtype=torch.long)
        owner = torch.arange(len(rows)).repeat_interleave(lengths)
        column = torch.cat([torch.arange(len(chunk)) for chunk in chunks])
        row = index[owner]
        slot = used[row] + column
        attending = len(used) if dense else len(rows)
        in_order = not dense or list(rows) == list(range(attending))
        plain = in_order and len(rows) == len(row) == attending  # one token in each
        return cls(
            lengths=lengths,
            slot=slot,
            target=(_heads_of(row, kv), slot[:, None].expand(-1, kv)),
            block=None if plain else (row if dense else owner, column),
            gathered=None if dense else _heads_of(index, kv).flatten(),
            attending=attending,
            longest=int(lengths.max()),
            slots=int(slot.max()) + 1,
        )

    def store(self, cache: Tensor, new: Tensor) -> Tensor:
        """Write the new entries (N, kv, width); all of the rows' entries (B * kv, slots, width)."""
        cache[self.target] = new
        used = cache[:, : self.slots]
        return used if self.gathered is None else used[self.gathered]

    def spread(self, tokens: Tensor) -> Tensor:
        """(N, ...) as a block (B, M, ...), zero where there is no token."""
        if self.block is None:
            return tokens[:, None]
        block = tokens.new_zeros(self.attending, self.longest, *tokens.shape[1:])
        block[self.block] = tokens
        return block

    def collect(self, block: Tensor) -> Tensor:
        """The tokens (N, ...) of a block."""
        return block[:, 0] if self.block is None else block[self.block]


def _heads_of(rows: Tensor, kv: int) -> Tensor:
    """The places of the rows' key-value heads, (rows, kv)."""
    return rows[:, None] * kv + torch.arange(kv)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin
