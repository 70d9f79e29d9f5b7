"""Supervised steps on reference traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from rods_grpo_trl.tiny.corpus import Trace
from rods_grpo_trl.tiny.muon import Muon

WARM_UP = 20  # steps


class SupervisedOptimizer:
    """Muon on the matrices, AdamW on embeddings and norms: copying emerges in ~200 steps.

    ``matrix_rate`` and ``rate`` are peaks; the first steps warm up to them.
    """

    def __init__(self, model: LlamaForCausalLM, matrix_rate: float, rate: float) -> None:
        self.model = model
        named = list(model.named_parameters())
        rest = [p for name, p in named if p.ndim != 2 or "embed" in name]
        self._muon = Muon(p for name, p in named if p.ndim == 2 and "embed" not in name)
        self._adam = torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.95), weight_decay=0.0)
        self._matrix_rate, self._rate = matrix_rate, rate
        self._steps = 0

    def step(self, traces: Sequence[Trace], scale: float) -> float:
        """One update on the mean loss of the policy's own tokens, which is returned."""
        self._steps += 1
        scale *= min(1.0, self._steps / WARM_UP)
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
    """Mean cross-entropy over the tokens that the policy says; shown tokens only condition."""
    longest = max(len(trace.ids) for trace in traces)
    ids = torch.zeros((len(traces), longest), dtype=torch.long)
    said = torch.zeros((len(traces), longest), dtype=torch.bool)
    for row, trace in enumerate(traces):
        ids[row, : len(trace.ids)] = torch.tensor(trace.ids)
        said[row, : len(trace.ids)] = torch.tensor(trace.said, dtype=torch.bool)
    body: Any = model.model
    hidden = body(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    targets = said[:, 1:]  # logits only where they count
    return functional.cross_entropy(model.lm_head(hidden[targets]), ids[:, 1:][targets])
