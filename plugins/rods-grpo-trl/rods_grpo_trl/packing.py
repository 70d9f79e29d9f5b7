"""Rows of one batch with as little padding as possible, and back.

TRL pads prompts on the left and completions on the right, each to the longest of the batch, and
scores every position. Here rows of similar length go through the model together, moved to the left
edge, and only sampled tokens are scored: on a CPU that is half of the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Pack:
    """``b`` rows of at most ``L`` tokens, from a batch with completions padded to ``C``."""

    rows: Tensor  # (b,) their places in the batch
    ids: Tensor  # (b, L)
    attention: Tensor  # (b, L) ones: padding is on the right, where no token looks
    unscored: Tensor  # (b, L) True where no log-probability is wanted
    source: Tensor  # (b, C) where the log-probability of a completion's token stands in (b, L - 1)


def packs(ids: Tensor, attention: Tensor, scored: Tensor, parts: int) -> list[Pack]:
    """The batch (B, P + C) in at most ``parts`` packs of similar length.

    ``scored`` (B, C) is True at the sampled tokens of the completions.
    """
    prompts = attention[:, : -scored.size(1)]
    lengths, prompt_lengths = attention.sum(1), prompts.sum(1)
    order = torch.argsort(lengths, stable=True)
    starts = prompts.size(1) - prompt_lengths
    return [
        _pack(rows, ids, scored, starts[rows], prompt_lengths[rows], lengths[rows])
        for rows in order.chunk(parts)
    ]


def _pack(
    rows: Tensor, ids: Tensor, scored: Tensor, start: Tensor, prompt: Tensor, length: Tensor
) -> Pack:
    longest, completion = max(2, int(length.max())), scored.size(1)
    places = torch.arange(longest, device=ids.device)[None]
    completions = torch.arange(completion, device=ids.device)[None]
    tokens = (start[:, None] + places).clamp(max=ids.size(1) - 1)
    mine = (places - prompt[:, None]).clamp(0, completion - 1)
    wanted = scored[rows].gather(1, mine) & (places >= prompt[:, None])
    return Pack(
        rows=rows,
        ids=ids[rows].gather(1, tokens),
        attention=torch.ones(len(rows), longest, dtype=torch.long, device=ids.device),
        unscored=~wanted,
        source=(prompt[:, None] - 1 + completions).clamp(0, longest - 2),
    )


def unpack(parts: Sequence[tuple[Pack, Tensor]]) -> Tensor:
    """Values of the next token, (b, L - 1) a pack, as the batch's completions (B, C)."""
    order = torch.cat([pack.rows for pack, _ in parts])
    values = torch.cat([value.gather(1, pack.source) for pack, value in parts])
    return values[torch.argsort(order)]
