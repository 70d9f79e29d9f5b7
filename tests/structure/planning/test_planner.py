"""Plans have their seed's structure, work in a fresh world and are far from known tasks."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from rods_office.environment import OfficeEnvironment

from rods.interfaces import Environment
from rods.structure.constants import constants
from rods.structure.leaves import parse, read
from rods.structure.lookups import lookup_tables
from rods.structure.planning import PlanningOptions, PlanningOutcome, StructurePlanner
from rods.structure.planning.filling import Failures, Filling
from rods.structure.planning.novelty import edit_distance
from rods.structure.planning.request import PlanRequest, names_of
from rods.structure.planning.search import Stuck
from rods.structure.proposal import Proposal
from rods.structure.sources import Labeller
from rods.testing.world import FakeEnvironment
from rods.types import SourceKind, Split, Task, Turn

FEW = PlanningOptions(effort=40, exploration_calls=600)


def planner_of(
    environment: Environment, options: PlanningOptions = FEW, cache: Path | None = None
) -> StructurePlanner:
    tasks = environment.tasks("train")
    labeller = Labeller(constants(environment.tools(), tasks), lookup_tables(environment))
    return StructurePlanner(environment, labeller, options, cache=cache)


@pytest.fixture(scope="module")
def office() -> OfficeEnvironment:
    return OfficeEnvironment(OfficeEnvironment.Config(n_train=24, n_unseen_entities=8))


@pytest.fixture(scope="module")
def outcomes(office: OfficeEnvironment) -> list[tuple[Task, PlanningOutcome]]:
    planner = planner_of(office)
    seeds = office.tasks("train")[:5]
    return [(seed, planner.propose(seed, random.Random(seed.id), 3)) for seed in seeds]


@pytest.fixture(scope="module")
def plans(outcomes: list[tuple[Task, PlanningOutcome]]) -> list[tuple[Task, Proposal]]:
    return [(seed, plan) for seed, outcome in outcomes for plan in outcome.proposals]


def as_task(seed: Task, plan: Proposal) -> Task:
    turns = tuple(Turn(user="", reference=tuple(p.call for p in turn)) for turn in plan.turns)
    update: Mapping[str, Any] = {"turns": turns, "initial_state": plan.initial_state}
    return seed.model_copy(update=update)


def test_nearly_every_seed_of_the_office_gets_plans(
    outcomes: list[tuple[Task, PlanningOutcome]],
) -> None:
    found = [len(outcome.proposals) for _, outcome in outcomes]
    assert sum(n == 3 for n in found) >= 4, [(o.rejects, o.failed_calls) for _, o in outcomes]


def test_a_plan_has_the_turns_sources_and_edges_of_its_seed(
    office: OfficeEnvironment, plans: list[tuple[Task, Proposal]]
) -> None:
    planner = planner_of(office)
    for seed, plan in plans:
        wanted = planner.studied(seed).profile
        assert plan.profile.calls_per_turn == wanted.calls_per_turn
        assert plan.profile.depth == wanted.depth
        assert [Counter(s.values()) for s in plan.profile.sources] == [
            Counter(s.values()) for s in wanted.sources
        ]
        assert Counter((e.producer, e.consumer) for e in plan.profile.edges) == Counter(
            (e.producer, e.consumer) for e in wanted.edges
        )


def test_the_calls_of_a_plan_work_in_a_fresh_world_and_bound_values_are_read_there(
    office: OfficeEnvironment, plans: list[tuple[Task, Proposal]]
) -> None:
    bound = 0
    for seed, plan in plans:
        session = office.open(as_task(seed, plan))
        answers: list[Any] = []
        for planned in plan.calls:
            for b in planned.bound:
                value: Any = planned.call.arguments[b.parameter]
                for step in b.path:
                    value = value[step]
                assert str(read(answers[b.producer], b.result_path)) == str(value)
                bound += 1
            result = session.call(planned.call)
            assert not result.error, result.content
            answers.append(parse(result.content))
            assert planned.call.name in plan.tools
    assert bound > 5


def test_a_plan_is_two_edits_from_its_seed_its_siblings_and_every_known_task(
    office: OfficeEnvironment, outcomes: list[tuple[Task, PlanningOutcome]]
) -> None:
    known = {names_of(t) for t in (*office.tasks("train"), *office.tasks("eval"))}
    for seed, outcome in outcomes:
        made = [tuple(p.call.name for p in plan.calls) for plan in outcome.proposals]
        for number, names in enumerate(made):
            assert min(edit_distance(names, other) for other in known) >= 2
            assert all(edit_distance(names, other) >= 2 for other in made[:number])
            assert outcome.proposals[number].edits == edit_distance(names, names_of(seed))


def test_equal_arguments_give_equal_plans(
    office: OfficeEnvironment, outcomes: list[tuple[Task, PlanningOutcome]]
) -> None:
    seed, before = outcomes[0]
    again = planner_of(office).propose(seed, random.Random(seed.id), 3)
    assert again.proposals == before.proposals
    assert again.rejects == before.rejects


def test_siblings_made_before_are_kept_away_from(
    office: OfficeEnvironment, outcomes: list[tuple[Task, PlanningOutcome]]
) -> None:
    seed, before = outcomes[0]
    siblings = [tuple(p.call.name for p in plan.calls) for plan in before.proposals]
    planner = planner_of(office)
    for plan in planner.propose(seed, random.Random(seed.id), 2, siblings).proposals:
        names = tuple(p.call.name for p in plan.calls)
        assert all(edit_distance(names, other) >= 2 for other in siblings)


def test_a_cached_catalog_is_the_learned_one(tmp_path: Path) -> None:
    environment = FakeEnvironment()
    learned = planner_of(environment, cache=tmp_path).catalog
    (file,) = tmp_path.glob("catalog-fake-*.json")
    assert planner_of(environment, cache=tmp_path).catalog == learned
    stamp = file.stat().st_mtime_ns
    other = FEW.model_copy(update={"exploration_calls": 500})
    assert planner_of(environment, other, tmp_path).catalog.tools.keys() == learned.tools.keys()
    assert file.stat().st_mtime_ns == stamp
    hasty = FEW.model_copy(update={"exploration_s": 0.001})  # knows less: kept apart
    assert planner_of(environment, hasty, tmp_path).catalog.tools.keys() == learned.tools.keys()
    assert len(list(tmp_path.glob("*.json"))) == 3


def test_a_slow_world_is_explored_as_long_as_the_time_allows(caplog: Any) -> None:
    environment = FakeEnvironment()
    hasty = FEW.model_copy(update={"exploration_s": 1e-6})
    learned = planner_of(environment, hasty).catalog
    assert 0 < sum(tool.tried for tool in learned.tools.values()) < 100
    assert "of 600 calls were tried" in caplog.text
    assert planner_of(environment).catalog.tools.keys() == learned.tools.keys()


# --------------------------------------------------------------------- a world of four functions
class Alone(FakeEnvironment):
    """A stockroom without evaluation tasks."""

    def tasks(self, split: Split) -> Sequence[Task]:
        return super().tasks(split) if split == "train" else []


def test_where_no_plan_is_two_edits_away_a_nearer_one_says_so() -> None:
    environment = Alone()
    seed = environment.tasks("train")[0]
    (plan,) = planner_of(environment).propose(seed, random.Random(0), 1).proposals
    assert [p.call.name for p in plan.calls] == ["cancel", "add", "order", "cancel"]
    assert plan.notes["near"] == "seed"
    assert plan.calls[3].sources == {"order": SourceKind.RESULT}
    assert plan.calls[3].bound[0].producer == 2


def test_plans_that_keep_the_distance_do_not_say_so() -> None:
    environment = Alone()
    seed = environment.tasks("train")[0]
    options = FEW.model_copy(update={"min_edits": 1})
    for plan in planner_of(environment, options).propose(seed, random.Random(0), 2).proposals:
        assert "near" not in plan.notes


def test_neighbours_differ_in_one_call_and_first_of_all_in_one_that_the_tools_lack() -> None:
    environment = Alone()
    planner = planner_of(environment)
    seed = environment.tasks("train")[0]
    names = names_of(seed)
    space = planner.search.space(planner.studied(seed).skeleton, seed.tools)
    found = planner.search.neighbours(space, names)
    changed = [[i for i, n in enumerate(other) if n != names[i]] for other in found]
    assert {len(places) for places in changed} == {1}
    (first, *_), other = changed[0], next(p[0] for p in changed if p != changed[0])
    space.domains[first] -= {names[first]}
    assert planner.search.neighbours(space, names) == [
        n for n, places in zip(found, changed, strict=True) if places == [first]
    ]
    space.domains[other] -= {names[other]}
    assert not planner.search.neighbours(space, names)


def test_where_a_call_has_failed_twice_for_one_reason_it_is_not_tried_again() -> None:
    stuck, place = Stuck(), ("a world", ("count", "order"))
    stuck.note(place, "no money")
    stuck.note(place, "no such item")
    assert not stuck.holds(place)
    stuck.note(place, "no money")
    assert stuck.holds(place)
    assert not stuck.holds(("another world", ("count", "order")))


def test_a_patched_plan_says_what_was_changed_and_fails_without_it() -> None:
    environment = Alone()
    seed = environment.tasks("train")[0]
    (plan,) = planner_of(environment).propose(seed, random.Random(0), 1).proposals
    (patch,) = plan.patches
    assert patch.path[0] == "orders"
    assert patch.why
    bare: Any = json.loads(json.dumps(plan.initial_state))
    del bare["orders"][patch.path[1]]
    session = environment.open(as_task(seed, plan).model_copy(update={"initial_state": bare}))
    assert any(session.call(planned.call).error for planned in plan.calls)


def test_a_plan_whose_state_edges_are_others_is_refused() -> None:
    """Two orders in a row: the first one decides the id of the second, which is cancelled."""
    environment = Alone()
    planner = planner_of(environment, FEW.model_copy(update={"max_patches": 0, "max_swaps": 0}))
    seed, failures = environment.tasks("train")[0], Failures()
    space = planner.search.space(planner.studied(seed).skeleton, seed.tools)
    names = ("count", "order", "order", "cancel")
    donor, rng = planner.donor(seed), random.Random(1)
    filling = Filling(planner.means, space, donor, names, rng, lambda _: True)
    assert filling.filled(failures) is None
    assert failures.calls == {"cancel: needs too much": 1}


def test_no_plan_is_that_near_to_an_evaluation_task() -> None:
    environment = FakeEnvironment()  # its evaluation tasks have the train tasks' functions
    seed = environment.tasks("train")[0]
    assert not planner_of(environment).propose(seed, random.Random(0), 1).proposals


def test_without_the_fallback_that_seed_gets_none() -> None:
    environment = Alone()
    options = FEW.model_copy(update={"fallback_edits": 2, "max_patches": 0})
    seed = environment.tasks("train")[0]
    outcome = planner_of(environment, options).propose(seed, random.Random(1), 1)
    assert not outcome.proposals
    assert outcome.rejects


def test_a_seed_that_hands_tools_over_is_not_planned_for() -> None:
    environment = FakeEnvironment()
    seed = next(t for t in environment.tasks("train") if t.kind == "miss_func")
    outcome = planner_of(environment).propose(seed, random.Random(1), 1)
    assert outcome.rejects == {"unplannable_kind": 1}


def test_a_failing_call_finds_the_change_that_makes_it_work() -> None:
    environment = FakeEnvironment()
    recipes = planner_of(environment).catalog.recipes
    unknown = next(kind for kind in recipes if kind.startswith("cancel: "))
    assert any(recipe.kind == "insert" for recipe in recipes[unknown])


def test_tools_with_which_plans_get_far_are_chosen_and_the_first_plan_is_sought_longest() -> None:
    environment = FakeEnvironment()
    planner = planner_of(environment)
    seed = planner.studied(environment.tasks("train")[0])
    run = PlanRequest(planner, seed, random.Random(1), 5, ())
    own, other = frozenset(seed.task.tools), frozenset({"elsewhere"})
    run._donors = {own: [seed.task], other: [seed.task]}
    for _ in range(30):
        run._hopes.learn([own], 0.1)
    assert Counter(run._tools() for _ in range(100))[other] > 80
    for _ in range(30):
        run._hopes.learn([own], 1.0)
        run._hopes.learn([other], 0.1)
    assert Counter(run._tools() for _ in range(100))[own] > 80
    assert run._patience() > FEW.patience
    run._found = [cast(Proposal, None)]
    assert run._patience() == FEW.patience
    run._found *= 3
    assert run._patience() < FEW.patience


def test_a_function_that_failed_is_not_tried_again_for_that_call() -> None:
    environment = Alone()
    planner = planner_of(environment, FEW.model_copy(update={"max_patches": 0}))
    seed, failures = environment.tasks("train")[0], Failures()
    space = planner.search.space(planner.studied(seed).skeleton, seed.tools)
    names = ("count", "order", "order", "cancel")
    donor, rng = planner.donor(seed), random.Random(1)
    filling = Filling(planner.means, space, donor, names, rng, lambda _: True)
    assert filling.filled(failures) is None
    tried = Counter(what.partition(":")[0] for what in failures.calls.elements())
    assert set(tried.values()) == {1}
