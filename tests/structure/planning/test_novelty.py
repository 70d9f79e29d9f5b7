"""Distances between function sequences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rods.structure.planning.novelty import Novelty, distances, edit_distance

_NAMES = st.lists(st.sampled_from("abcd"), max_size=5).map(tuple)


@given(st.lists(_NAMES, max_size=4), _NAMES, st.integers(1, 4))
def test_near_is_fewer_edits_than_asked_for(
    known: list[tuple[str, ...]], names: tuple[str, ...], edits: int
) -> None:
    nearest = min((edit_distance(other, names) for other in known), default=99)
    assert Novelty(known).is_near(names, edits) == (nearest < edits)


def test_edit_distance_counts_insertions_deletions_and_replacements() -> None:
    assert edit_distance(("a", "b", "c"), ("a", "x", "c")) == 1
    assert edit_distance(("a", "b", "c"), ("b", "c")) == 1
    assert edit_distance((), ("a", "b")) == 2


def test_less_is_asked_of_the_siblings_first_and_of_the_seed_last() -> None:
    asked = distances(2, 1)
    assert [(d.seed, d.others, d.of) for d in asked] == [
        (2, 2, None),
        (2, 1, "sibling"),
        (1, 1, "seed"),
    ]
    assert distances(2, 2) == asked[:1]
