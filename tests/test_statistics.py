"""Bootstrap intervals against cases whose answer is known."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rods.statistics import bootstrap_mean, paired_gain


def normal(n: int, mean: float, seed: int) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(mean, 1.0) for _ in range(n)]


def test_the_interval_of_a_large_sample_is_the_normal_one() -> None:
    values = normal(4000, 0.3, seed=1)
    interval = bootstrap_mean(values)
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    half = 1.959964 * deviation / math.sqrt(len(values))
    assert interval.mean == pytest.approx(mean)
    assert interval.low == pytest.approx(mean - half, abs=0.05 * half)
    assert interval.high == pytest.approx(mean + half, abs=0.05 * half)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    intervals = [
        bootstrap_mean(normal(60, 0.0, seed), seed=seed, resamples=1000) for seed in range(300)
    ]
    assert 0.90 <= sum(i.low <= 0 <= i.high for i in intervals) / 300 <= 0.985


def test_a_coin_that_fell_three_times_of_four_has_its_binomial_interval() -> None:
    interval = bootstrap_mean([1.0, 1.0, 1.0, 0.0], resamples=100_000)
    assert (interval.low, interval.high) == (0.25, 1.0)  # P(mean = 0) = 1/256 < 2.5 %


def test_pairs_remove_what_differs_between_tasks() -> None:
    before = normal(40, 0.0, seed=3)
    after = [value + 0.1 for value in before]
    gain = paired_gain(before, after)
    assert (gain.mean, gain.low, gain.high) == pytest.approx((0.1, 0.1, 0.1))
    assert bootstrap_mean(after).low < bootstrap_mean(before).high


def test_swapping_before_and_after_turns_the_sign() -> None:
    before, after = normal(30, 0.0, seed=4), normal(30, 0.5, seed=5)
    there, back = paired_gain(before, after), paired_gain(after, before)
    assert (there.mean, there.low, there.high) == pytest.approx(
        (-back.mean, -back.high, -back.low), abs=0.02
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(0, 9))
def test_an_interval_lies_among_the_values_and_repeats(values: list[float], seed: int) -> None:
    interval = bootstrap_mean(values, seed=seed, resamples=200)
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
    assert interval.n == len(values)
    assert interval == bootstrap_mean(values, seed=seed, resamples=200)


def test_blocks_do_not_change_the_number_of_resamples() -> None:
    wide = bootstrap_mean([0.0, 1.0] * 2000, resamples=3000)
    assert wide.low < 0.5 < wide.high


def test_no_values_and_unequal_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="n >= 1"):
        bootstrap_mean([])
    with pytest.raises(ValueError, match="equal lengths, got 1 and 2"):
        paired_gain([0.0], [0.0, 1.0])
