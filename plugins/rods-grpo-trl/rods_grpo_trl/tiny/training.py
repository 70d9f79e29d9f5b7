"""Supervised steps on reference traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from rods_grpo_trl.tiny.corpus import Trace
from rods_grpo_trl.tiny.muon import Muon

ROW = 128  # tokens of a row that traces share


class SupervisedOptimizer:
    """Muon on the matrices, AdamW on embeddings and norms: copying emerges in ~100 steps.

    ``matrix_rate`` and ``rate`` are peaks, of which each step takes a share.
    """

    def __init__(self, model: LlamaForCausalLM, matrix_rate: float, rate: float) -> None:
        self.model = model
        named = list(model.named_parameters())
        rest = [p for name, p in named if p.ndim != 2 or "embed" in name]
        self._muon = Muon(p for name, p in named if p.ndim == 2 and "embed" not in name)
        self._adam = torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.95), weight_decay=0.0)
        self._matrix_rate, self._rate = matrix_rate, rate

    def step(self, traces: Sequence[Trace], scale: float) -> float:
        """One update on the mean loss of the policy's own tokens, which is returned."""
        self.model.zero_grad()
        loss = said_loss(self.model, traces)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._muon.step(self._matrix_rate * scale)
        for group in self._adam.param_groups:
            group["lr"] = self._rate * scale
        self._adam.step()
        return loss.item()


def said_loss(model: LlamaForCausalLM, traces: Sequence[Trace]) -> Tensor:
    """Mean cross-entropy over the tokens that the policy says; shown tokens only condition.

    Short traces share rows, so that hardly a token is padding, and none sees another; a long one
    is a batch of its own, because attention over a shared row of its length would cost more.
    """
    long = [t for t in traces if len(t.ids) > ROW]
    short = [t for t in traces if len(t.ids) <= ROW]
    losses = [_summed_loss(model, Packed.of([t])) for t in long]
    if short:
        losses.append(_summed_loss(model, Packed.of(short)))
    return torch.stack(losses).sum() / sum(sum(t.said) for t in traces)


def _summed_loss(model: LlamaForCausalLM, batch: Packed) -> Tensor:
    body: Any = model.model
    hidden = body(
        input_ids=batch.ids,
        position_ids=batch.positions,
        attention_mask=batch.mask,
        use_cache=False,
    ).last_hidden_state[:, :-1]
    targets = batch.said[:, 1:]  # logits only where they count
    logits = model.lm_head(hidden[targets])
    return functional.cross_entropy(logits, batch.ids[:, 1:][targets], reduction="sum")


@dataclass(frozen=True, slots=True)
class Packed:
    """Traces one behind the other in rows: (R, W) each, the mask (R, 1, W, W)."""

    ids: Tensor
    said: Tensor
    positions: Tensor  # from 0 in every trace
    mask: Tensor | None  # True where a token sees another: earlier, of its own trace

    @classmethod
    def of(cls, traces: Sequence[Trace], width: int = ROW) -> Packed:
        """Each trace in the first row with room for it, the longest first."""
        if len(traces) == 1:  # plainly causal
            width = len(traces[0].ids)
        rows: list[list[Trace]] = []
        for trace in sorted(traces, key=lambda t: -len(t.ids)):
            fitting = (r for r in rows if sum(len(t.ids) for t in r) + len(trace.ids) <= width)
            row = next(fitting, None)
            if row is None:
                rows.append(row := [])
            row.append(trace)
        padded = [
            _padded([(token, said, place, number) for number, t in enumerate(row, start=1)
                     for place, (token, said) in enumerate(zip(t.ids, t.said, strict=True))], width)
            for row in rows
        ]  # fmt: skip
        ids, said, positions, owner = torch.tensor(padded).permute(2, 0, 1)
        causal = torch.ones(width, width, dtype=torch.bool).tril()
        mask = ((owner[:, :, None] == owner[:, None, :]) & causal)[:, None]
        return cls(ids, said.bool(), positions, mask if len(traces) > 1 else None)


def _padded(cells: list[tuple[int, int, int, int]], width: int) -> list[tuple[int, int, int, int]]:
    return cells + [(0, 0, 0, 0)] * (width - len(cells))
