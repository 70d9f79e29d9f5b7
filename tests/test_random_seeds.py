"""Seeds follow from their key alone, so that runs of another process or machine repeat."""

from __future__ import annotations

import pytest

from rods.random_seeds import derived_seed


def test_every_part_of_the_key_counts_and_so_does_their_order() -> None:
    keys = [(0, "a"), (1, "a"), (0, "b"), ("a", 0), (0, "a", 0), ("0a",)]
    assert len({derived_seed(*key) for key in keys}) == len(keys)


@pytest.mark.parametrize("bits", [31, 48, 63])
def test_seeds_fill_their_range(bits: int) -> None:
    seeds = [derived_seed("any", number, bits=bits) for number in range(64)]
    assert 2 ** (bits - 1) < max(seeds) < 2**bits
    assert min(seeds) < 2 ** (bits - 1)


def test_recorded_seeds_stay_what_they_are() -> None:
    assert derived_seed(0, "evaluation", bits=31) == 1_007_136_836
    assert derived_seed(7, 3, "task") == 44_478_409_770_527
    assert derived_seed(7, 3, "task", bits=63) == 1_457_468_531_360_655_486
