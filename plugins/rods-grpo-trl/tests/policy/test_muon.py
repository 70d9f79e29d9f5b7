"""Our Muon is torch's, in fp32."""

from __future__ import annotations

import pytest
import torch
from rods_grpo_trl.tiny.muon import Muon, orthogonal


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 12, 40), (2, 40, 12)])
def test_singular_values_become_one(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
    assert values.min() > 0.3
    assert values.max() < 1.3


def test_steps_equal_those_of_torch_up_to_its_bfloat16() -> None:
    torch.manual_seed(0)
    ours = [torch.nn.Parameter(torch.randn(24, 16)) for _ in range(3)]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    muon, reference = Muon(ours), torch.optim.Muon(theirs, lr=0.02, weight_decay=0.0)
    for _ in range(6):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(24, 16)
            other.grad = mine.grad.clone()
        muon.step(0.02)
        reference.step()  # type: ignore[no-untyped-call]
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, atol=2e-3, rtol=0)
