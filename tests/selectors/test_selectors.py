"""Which seeds are chosen, and why not the others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rods.interfaces import Selector
from rods.pool import Pool
from rods.selectors import BoundarySelector, RandomSelector, UniformSelector
from rods.selectors.evidence import gather
from rods.testing.groups import group, seed_task
from rods.types import KINDS, RetireReason, RolloutGroup, Task

TASKS = [seed_task(i, KINDS[i % 4]) for i in range(40)]
BASE = TASKS[::4]  # of kind base


@pytest.fixture
def pool() -> Iterator[Pool]:
    """All tasks as seeds, in memory."""
    with Pool.open("sqlite://") as opened:
        opened.add_seeds(TASKS)
        yield opened


def boundary(pool: Pool, seed: int = 0, **options: object) -> BoundarySelector:
    """The selector with some options of its own."""
    return BoundarySelector(BoundarySelector.Config.model_validate(options), pool, seed)


def with_mean(task: Task, mean: float) -> RolloutGroup:
    """Two rollouts around a mean, with variance."""
    return group(task, [mean - 0.05, mean + 0.05])


# ---------------------------------------------------------------- the boundary
def test_the_zone_is_closed_and_ranked_by_phi(pool: Pool) -> None:
    means = [0.10, 0.20, 0.50, 0.70, 0.85, 0.95]
    groups = [with_mean(task, mean) for task, mean in zip(BASE, means, strict=False)]
    chosen = boundary(pool).select(1, 0, groups)
    assert chosen == [BASE[i].id for i in (2, 3, 1, 4)]


def test_equal_rewards_give_no_seed_unless_the_paper_says_so(pool: Pool) -> None:
    flat = [group(BASE[0], [0.1, 0.1, 0.1]), group(BASE[1], [0.5, 0.5])]
    assert boundary(pool).select(1, 0, flat) == []
    paper = BoundarySelector.presets["paper"]["selector:boundary"]
    assert boundary(pool, **paper).select(1, 0, flat) == [BASE[1].id]


def test_a_group_without_two_rewards_never_counts(pool: Pool) -> None:
    groups = [group(BASE[0], [0.5, None, None, None]), group(BASE[1], [None, None])]
    pool.record(1, 0, groups)
    for kind in (BoundarySelector, UniformSelector, RandomSelector):
        assert kind(kind.Config(), pool).select(1, 0, groups) == []


def test_a_minimum_of_rewards_can_be_asked_for(pool: Pool) -> None:
    groups = [group(BASE[0], [0.2, 0.8, None]), group(BASE[1], [0.2, 0.8, 0.5])]
    assert boundary(pool, min_scored=3).select(1, 0, groups) == [BASE[1].id]


def test_who_cannot_write_a_call_is_kept_apart_from_who_cannot_solve(pool: Pool) -> None:
    rewards = [0.0, 0.0, 0.0, 1.0]
    groups = [group(task, rewards, malformed=i) for i, task in enumerate(BASE[:4])]
    assert set(boundary(pool).select(1, 0, groups)) == {BASE[0].id, BASE[1].id}
    every = boundary(pool, max_format_share=1.0).select(1, 0, groups)
    assert len(every) == 4


def test_two_groups_of_one_entry_are_judged_together(pool: Pool) -> None:
    groups = [group(BASE[0], [0.0, 0.1]), group(BASE[0], [1.0, 0.9])]
    (found,) = gather(groups, min_scored=2)
    assert (found.mean, found.variance) == (pytest.approx(0.5), pytest.approx(0.0025))
    assert boundary(pool).select(1, 0, groups) == [BASE[0].id]


def test_an_upside_down_zone_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"alpha_low 0\.9 is above alpha_high 0\.85"):
        BoundarySelector.Config(alpha_low=0.9)


def test_reports_count_regions_by_the_zone_that_is_searched(pool: Pool) -> None:
    assert boundary(pool, alpha_low=0.3, alpha_high=0.6).zone == (0.3, 0.6)


# ---------------------------------------------------------------- quotas and pause
def test_no_kind_takes_more_than_its_quota_and_the_total_holds(pool: Pool) -> None:
    groups = [with_mean(task, 0.5) for task in TASKS]
    chosen = boundary(pool).select(1, 0, groups)
    kinds = [pool.entry(entry_id).kind for entry_id in chosen]
    assert {kind: kinds.count(kind) for kind in KINDS} == dict.fromkeys(KINDS, 4)
    assert len(boundary(pool, total=6).select(1, 0, groups)) == 6


def test_ties_are_broken_by_the_seed_and_the_step(pool: Pool) -> None:
    groups = [with_mean(task, 0.5) for task in BASE]
    first = boundary(pool).select(1, 0, groups)
    assert boundary(pool).select(1, 0, groups[::-1]) == first
    assert boundary(pool, seed=1).select(1, 0, groups) != first
    assert boundary(pool).select(2, 0, groups) != first


def test_a_seed_pauses_after_its_request(pool: Pool) -> None:
    selector = boundary(pool, cooldown_steps=3)
    groups = [with_mean(BASE[0], 0.5)]
    pool.request_synthesis(BASE[0].id, 5)
    chosen = {step: bool(selector.select(step, 0, groups)) for step in (5, 6, 7, 8)}
    assert chosen == {5: True, 6: False, 7: False, 8: True}  # the same step asks the same again


# ---------------------------------------------------------------- controls
def test_uniform_looks_at_no_reward(pool: Pool) -> None:
    groups = [group(BASE[i], [reward] * 2) for i, reward in enumerate([0.0, 0.5, 1.0])]
    chosen = UniformSelector(UniformSelector.Config(), pool).select(1, 0, groups)
    assert sorted(chosen) == sorted(task.id for task in BASE[:3])


def test_uniform_gives_every_group_its_turn(pool: Pool) -> None:
    groups = [group(task, [0.0, 0.0]) for task in BASE]
    selector = UniformSelector(UniformSelector.Config(quota_per_kind=1), pool)
    first = {selector.select(step, 0, groups)[0] for step in range(60)}
    assert first == {task.id for task in BASE}


def test_random_looks_at_no_step_but_only_at_measured_active_entries(pool: Pool) -> None:
    pool.record(1, 0, [group(task, [0.0, 0.0]) for task in TASKS[:20]])
    pool.retire(RetireReason.UNSOLVABLE, limit=2)  # seed-0 and seed-1
    selector = RandomSelector(RandomSelector.Config(quota_per_kind=2), pool)
    groups = [group(task, [0.5, 0.5]) for task in TASKS[30:34]]
    found = [selector.select(step, 0, groups) for step in range(2, 60)]
    assert {len(chosen) for chosen in found} == {4}  # as many as the step has scored groups
    assert {entry for chosen in found for entry in chosen} == {f"seed-{i}" for i in range(2, 20)}
    assert selector.select(5, 0, groups) == selector.select(5, 0, groups)


def test_random_leaves_out_what_pauses(pool: Pool) -> None:
    pool.record(1, 0, [group(task, [0.0, 0.0]) for task in BASE[:2]])
    pool.request_synthesis(BASE[0].id, 1)
    selector = RandomSelector(RandomSelector.Config(), pool)
    groups = [group(task, [0.5, 0.5]) for task in BASE[:2]]
    assert selector.select(2, 0, groups) == [BASE[1].id]


# ---------------------------------------------------------------- invariants
rewards = st.lists(st.sampled_from([None, 0.0, 0.2, 0.5, 1.0]), min_size=1, max_size=4)


@given(played=st.lists(st.tuples(st.integers(0, 39), rewards), max_size=30))
def test_every_seed_has_evidence_and_no_quota_is_broken(
    played: list[tuple[int, list[float | None]]],
) -> None:
    groups = [group(TASKS[i], r) for i, r in played]
    scored = {g.entry_id: g.task.kind for g in groups if g.scored}
    selectors: list[Selector] = [boundary(_Calm()), UniformSelector(None, _Calm())]  # type: ignore[arg-type]
    for selector in selectors:
        chosen = selector.select(1, 0, groups)
        assert len(set(chosen)) == len(chosen) <= 16
        assert set(chosen) <= set(scored)
        kinds = [scored[entry_id] for entry_id in chosen]
        assert all(kinds.count(kind) <= 4 for kind in KINDS)


class _Calm:
    """A pool in which nothing pauses."""

    def last_requests(self, *_: object, **__: object) -> dict[str, int]:
        """Nothing was asked for."""
        return {}
