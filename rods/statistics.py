"""Intervals by the bootstrap over tasks: a task, not a rollout, is the unit that was sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
_BLOCK = 1 << 22  # resampled values held at once: 32 MB of indices


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over ``n`` tasks and its percentile interval."""

    mean: float
    low: float
    high: float
    n: int


def bootstrap_mean(
    values: Sequence[float], *, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES
) -> Interval:
    """The mean of ``values``, shape (n,), n >= 1, with its percentile bootstrap interval.

    Equal arguments give equal intervals. One value, or equal ones, give an interval of width 0.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not sample.size:
        raise ValueError(f"bootstrap_mean needs values of shape (n,), n >= 1; got {sample.shape}.")
    means = _resampled_means(sample, np.random.default_rng(seed), resamples)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(sample.mean()), float(low), float(high), int(sample.size))


def paired_gain(
    before: Sequence[float],
    after: Sequence[float],
    *,
    seed: int = 0,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """The mean of ``after - before``, both shape (n,) in the order of the same tasks.

    The pairs are resampled together, so what differs between tasks does not widen the interval.
    """
    if len(before) != len(after):
        raise ValueError(f"Pairs need equal lengths, got {len(before)} and {len(after)}.")
    differences = np.asarray(after, dtype=np.float64) - np.asarray(before, dtype=np.float64)
    return bootstrap_mean(list(differences), seed=seed, level=level, resamples=resamples)


def proportion(successes: int, n: int, *, z: float = 1.96) -> Interval:
    """The share of ``n`` >= 1 trials that succeeded, with Wilson's interval (95 % by default)."""
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"{successes} of {n} is no proportion.")
    share, spread = successes / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * np.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return Interval(share, max(0.0, float(middle - half)), min(1.0, float(middle + half)), n)


def _resampled_means(
    sample: NDArray[np.float64], rng: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """Means of ``resamples`` draws of n values with replacement, shape (resamples,)."""
    rows = max(1, _BLOCK // sample.size)
    blocks = [min(rows, resamples - start) for start in range(0, resamples, rows)]
    draws = (rng.integers(0, sample.size, (block, sample.size)) for block in blocks)
    return np.concatenate([sample[indices].mean(axis=1) for indices in draws])
