"""Leave rollouts without advantage out of the forward pass: equal gradient, less work.

A group whose K rollouts earned the same has advantage 0 everywhere, and so has a rollout without a
reward. Their tokens still count in the loss's denominator, which is why the loss is scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

PROMPT = ("prompt_ids", "prompt_mask")
LOGPS = ("old_per_token_logps", "ref_per_token_logps", "sampling_per_token_logps")
COMPLETION = (
    "completion_ids",
    "completion_mask",
    "tool_mask",
    *LOGPS,
    "importance_sampling_ratio",
)


def rows_with_signal(inputs: Mapping[str, Any]) -> int:
    """How many rows have an advantage; at least one, so that there is a loss to differentiate."""
    return max(1, int((inputs["advantages"] != 0).sum()))


def with_signal(
    inputs: Mapping[str, Any], loss_type: str, keep: int
) -> tuple[dict[str, Any], float]:
    """``keep`` rows, those with an advantage first, without padding for others; the loss's scale.

    ``scale * loss(rows)`` equals the loss of all rows, for TRL's losses and without a KL term.
    """
    flat = (inputs["advantages"] == 0).long()
    chosen = torch.argsort(flat, stable=True)[:keep].sort().values
    rows = {key: _select(value, chosen) for key, value in inputs.items()}
    scale = _scale(inputs, rows, loss_type)
    return _trim(rows), scale


def sampled_only(inputs: Mapping[str, Any]) -> tuple[dict[str, Any], Tensor]:
    """The same rows with the other log-probabilities 0 where nothing was sampled, and where it was.

    TRL masks these tokens at the end; until then a ratio of unrelated numbers could overflow.
    """
    mask = inputs["completion_mask"] * inputs.get("tool_mask", 1)
    scored = mask.bool()
    rows = dict(inputs)
    for key in LOGPS:
        if isinstance(rows.get(key), Tensor):
            rows[key] = rows[key].masked_fill(~scored, 0.0)
    return rows, scored


def _select(value: Any, rows: Tensor) -> Any:
    return value[rows] if isinstance(value, Tensor) and value.dim() > 0 else value


def _trim(rows: dict[str, Any]) -> dict[str, Any]:
    prompt = max(1, int(rows["prompt_mask"].sum(1).max()))
    completion = max(1, int(rows["completion_mask"].sum(1).max()))
    for key in PROMPT:
        rows[key] = rows[key][:, -prompt:]
    for key in COMPLETION:
        if isinstance(rows.get(key), Tensor) and rows[key].size(1) > 1:
            rows[key] = rows[key][:, :completion]
    return rows


def _scale(inputs: Mapping[str, Any], rows: Mapping[str, Any], loss_type: str) -> float:
    if loss_type in ("dapo", "cispo", "vespo"):  # the denominator was counted before
        return 1.0
    if loss_type == "bnpo":
        return _tokens(rows) / _tokens(inputs)
    return len(rows["advantages"]) / len(inputs["advantages"])


def _tokens(rows: Mapping[str, Any]) -> float:
    mask = rows["completion_mask"] * rows.get("tool_mask", 1)
    return max(1.0, float(mask.sum()))
