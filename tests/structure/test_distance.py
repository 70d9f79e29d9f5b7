"""Distance 0 is isomorphism, and nothing else is 0."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rods.structure.distance import distance, isomorphic
from rods.structure.profile import depth
from rods.types import ComplexityProfile, DataEdge, SourceKind

_KINDS = st.sampled_from(list(SourceKind))


@st.composite
def profiles(draw: st.DrawFn) -> ComplexityProfile:
    """A small profile whose edges run forward."""
    calls = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    n = sum(calls)
    pairs = [(a, b) for b in range(n) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=4)) if pairs else []
    edges = tuple(DataEdge(producer=a, consumer=b, parameter="x") for a, b in sorted(chosen))
    return ComplexityProfile(
        kind="base",
        calls_per_turn=tuple(calls),
        tools=tuple(draw(st.sampled_from("abc")) for _ in range(n)),
        edges=edges,
        sources=tuple({"x": draw(_KINDS)} for _ in range(n)),
        depth=depth(edges),
    )


def reordered(profile: ComplexityProfile, seed: int) -> ComplexityProfile:
    """The same graph with the calls of each turn in another order, edges still forward or not."""
    rng, order, start = random.Random(seed), [], 0
    for calls in profile.calls_per_turn:
        turn = list(range(start, start + calls))
        rng.shuffle(turn)
        order += turn
        start += calls
    place = {old: new for new, old in enumerate(order)}
    edges = sorted((place[e.producer], place[e.consumer], e.parameter) for e in profile.edges)
    return profile.model_copy(
        update={
            "tools": tuple(profile.tools[i] for i in order),
            "sources": tuple(profile.sources[i] for i in order),
            "edges": tuple(DataEdge(producer=a, consumer=b, parameter=p) for a, b, p in edges),
        }
    )


@given(profiles(), st.integers(0, 99))
def test_the_order_inside_a_turn_does_not_count(profile: ComplexityProfile, seed: int) -> None:
    assert distance(profile, reordered(profile, seed)) == 0


@given(profiles(), profiles())
def test_distance_is_symmetric_bounded_and_zero_only_for_isomorphic_profiles(
    a: ComplexityProfile, b: ComplexityProfile
) -> None:
    found = distance(a, b)
    assert 0 <= found <= 1
    assert abs(found - distance(b, a)) < 1e-12
    assert (found == 0) == isomorphic(a, b)


@given(profiles())
def test_another_kind_is_another_profile(profile: ComplexityProfile) -> None:
    assert distance(profile, profile.model_copy(update={"kind": "miss_func"})) > 0


def test_equal_label_counts_are_not_enough() -> None:
    """Two pairs of equal calls: a fan and a chain have other edges, though every label agrees."""
    calls = {"kind": "base", "calls_per_turn": (4,), "tools": ("f",) * 4, "depth": 1}
    sources = tuple({"x": SourceKind.RESULT} for _ in range(4))

    def profile(*pairs: tuple[int, int]) -> ComplexityProfile:
        edges = tuple(DataEdge(producer=a, consumer=b, parameter="x") for a, b in pairs)
        return ComplexityProfile(sources=sources, edges=edges, **calls)

    fan, pairs = profile((0, 1), (0, 2)), profile((0, 1), (2, 3))
    assert distance(fan, pairs) > 0
    assert distance(pairs, profile((0, 2), (1, 3))) == 0


def test_the_more_differs_the_larger_the_distance() -> None:
    base = ComplexityProfile(
        kind="base",
        calls_per_turn=(2, 1),
        tools=("a", "b", "c"),
        edges=(),
        sources=({}, {}, {}),
        depth=0,
    )
    one = base.model_copy(update={"tools": ("a", "b", "d")})
    two = base.model_copy(update={"tools": ("a", "e", "d")})
    assert 0 < distance(base, one) < distance(base, two) <= 1
