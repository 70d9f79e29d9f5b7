"""Muon in fp32: momentum whose update is the nearest orthogonal matrix (Jordan et al., 2024).

``torch.optim.Muon`` orthogonalises in bfloat16, which takes three quarters of a step on a CPU
without bfloat16 arithmetic. Here it is fp32, and matrices of one shape are done together.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the quintic Newton-Schulz iteration
_ITERATIONS = 5


class Muon:
    """Nesterov momentum, orthogonalised, for matrices of a model's body."""

    def __init__(self, matrices: Iterable[Tensor], momentum: float = 0.95) -> None:
        by_shape: dict[tuple[int, ...], list[Tensor]] = {}
        for matrix in matrices:
            by_shape.setdefault(tuple(matrix.shape), []).append(matrix)
        self._groups = [
            (group, torch.zeros(len(group), *shape)) for shape, group in by_shape.items()
        ]
        self._momentum = momentum

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update at learning rate ``rate``; matrices without gradient stay."""
        for matrices, velocity in self._groups:
            gradient = torch.stack([m.grad if m.grad is not None else m * 0 for m in matrices])
            velocity.lerp_(gradient, 1 - self._momentum)
            update = orthogonal(gradient.lerp_(velocity, self._momentum))
            rows, columns = velocity.shape[1:]
            scale = rate * max(1.0, rows / columns) ** 0.5
            for matrix, change in zip(matrices, update, strict=True):
                matrix.sub_(change, alpha=scale)


def orthogonal(matrices: Tensor) -> Tensor:
    """U V^T of each matrix U S V^T in (N, R, C), up to singular values in about 0.7 to 1.2."""
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x
