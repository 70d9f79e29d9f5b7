"""New plans of a seed's structure, found without a language model.

Every train seed is asked for `--per-seed` plans under the exact profile. `accepted_per_s` is plans
a CPU second of one thread, the search alone; what is learned of the world before is `learn_s`.
`isomorphic` and `official_valid` are shares of the plans found: the former by networkx's VF2 on
labelled graphs built here, from the plans' profiles and an ablation of their calls in fresh worlds;
the latter by BFCL's own checker in a child process, each plan's reference as its own rollout; one
that is refused is judged again in a process of its own.

    python benchmarks/plans.py [--environment bfcl|office] [--per-seed N] [--effort N] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rods.interfaces import Environment
from rods.structure.constants import constants
from rods.structure.leaves import parse
from rods.structure.lookups import lookup_tables
from rods.structure.planning import PlanningOptions, StructurePlanner
from rods.structure.planning.catalog import Catalog
from rods.structure.planning.relations import misfit
from rods.structure.planning.request import names_of
from rods.structure.profile import profile
from rods.structure.proposal import PlannedCall, Proposal
from rods.structure.sources import Labeller
from rods.structure.trace import replay
from rods.types import ComplexityProfile, JsonObject, SourceKind, Task, ToolCall, Turn

sys.path.insert(0, str(Path(__file__).parent))
import synthesis as official  # the neighbour that calls the official checker

nx: Any = import_module("networkx")
SEEDS = 100
TARGETS = {"with_1": 0.95, "with_3": 0.85}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environment", choices=("bfcl", "office"), default="bfcl")
    parser.add_argument("--per-seed", type=int, default=10, help="plans asked of each seed")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds, evenly spread")
    parser.add_argument("--effort", type=int, help="plans tried for each seed")
    parser.add_argument("--quantile", type=float, help="threshold of plausibility")
    parser.add_argument("--strictness", choices=("exact", "edges", "loose"), help="what is kept")
    parser.add_argument("--min-edits", type=int, help="edits from known tasks")
    parser.add_argument("--show", type=int, default=0, help="print so many plans")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    chosen = {"effort": options.effort, "plausibility_quantile": options.quantile}
    chosen |= {"min_edits": options.min_edits, "strictness": options.strictness}
    environment = loaded(options.environment)
    planning = PlanningOptions(**{k: v for k, v in chosen.items() if v is not None})
    result, plans = measure(environment, planning, options.per_seed, options.seeds)
    if options.environment == "bfcl" and plans:
        refused = refused_officially([as_task(seed, plan) for seed, plan in plans])
        result["official_valid"] = 1 - len(refused) / len(plans)
        result["official_refused"] = [names_of(task) for task in refused]
    print(json.dumps(result)) if options.json else report(result)
    for seed, plan in random.Random(0).sample(plans, min(options.show, len(plans))):
        show(seed, plan)


def coherence(
    environment: Environment, catalog: Catalog, plans: Sequence[tuple[Task, Proposal]]
) -> tuple[int, int]:
    """Rules on values that go together (a route, a person, an amount): kept, and all that apply."""
    verdicts: list[bool] = []
    for seed, plan in plans:
        task = as_task(seed, plan)
        trace = replay(environment, task)
        answers = [parse(content) for content in trace.contents]
        states = states_before(environment, task, trace.calls)
        for at, call in enumerate(trace.calls):
            before = {earlier.name for earlier in trace.calls[:at]}
            for name, value in call.arguments.items():
                known = catalog.relations.get(f"{call.name} {name}", ())
                rules = [rule for rule in known if rule.earlier in before]
                verdicts += [not misfit([r], value, trace.calls[:at], answers) for r in rules]
            for record in catalog.records.get(call.name, ()):
                if record.parameter in call.arguments and record.number(call.arguments, states[at]):
                    verdicts.append(record.holds(call.arguments, states[at]))
    return sum(verdicts), len(verdicts)


def states_before(
    environment: Environment, task: Task, calls: Sequence[ToolCall]
) -> list[JsonObject]:
    """The visible state before each call."""
    session = environment.open(task)
    try:
        return [(session.state(), session.call(call))[0] for call in calls]
    finally:
        session.close()


def loaded(name: str) -> Environment:
    """The world with 100 train seeds; BFCL's are the base tasks."""
    if name == "office":
        office = import_module("rods_office.environment").OfficeEnvironment
        return office(office.Config(n_train=SEEDS))  # type: ignore[no-any-return]
    bfcl = import_module("rods_bfcl.environment").BfclEnvironment
    return bfcl(bfcl.Config(kinds=("base",), exclude_flagged=False))  # type: ignore[no-any-return]


def measure(
    environment: Environment, options: PlanningOptions, per_seed: int, count: int
) -> tuple[dict[str, Any], list[tuple[Task, Proposal]]]:
    """All numbers but the official checker's, and the plans."""
    seeds = list(environment.tasks("train"))
    labeller = Labeller(constants(environment.tools(), seeds), lookup_tables(environment))
    planner = StructurePlanner(environment, labeller, options)
    start = time.process_time()
    planner.prepare()
    learned = time.process_time()
    seeds = seeds[:: max(1, len(seeds) // count)][:count]
    outcomes = [planner.propose(seed, random.Random(seed.id), per_seed) for seed in seeds]
    taken = time.process_time() - learned
    plans = [
        (seed, plan)
        for seed, outcome in zip(seeds, outcomes, strict=True)
        for plan in outcome.proposals
    ]
    found = [len(outcome.proposals) for outcome in outcomes]
    far = [sum("near" not in plan.notes for plan in o.proposals) for o in outcomes]
    off = [sum(plan.notes.get("near") != "seed" for plan in o.proposals) for o in outcomes]
    alike = sum(is_isomorphic(environment, labeller, seed, plan) for seed, plan in plans)
    kept, rules = coherence(environment, planner.catalog, plans)
    result = {
        "seeds": len(seeds),
        "with_1": sum(n >= 1 for n in found),
        "with_3": sum(n >= 3 for n in found),
        "with_10": sum(n >= 10 for n in found),
        "accepted": len(plans),
        "accepted_per_s": len(plans) / taken,
        "learn_s": learned - start,
        "isomorphic": alike / len(plans) if plans else None,
        "official_valid": None,
        "rules_kept": kept,
        "rules": rules,
        **{f"strict_{n}": sum(k >= n for k in far) for n in (1, 3)},
        **{f"off_seed_{n}": sum(k >= n for k in off) for n in (1, 3)},
        "fallback": sum("near" in plan.notes for _, plan in plans),
        "patched": sum(bool(plan.patches) for _, plan in plans),
        "edits": dict(sorted(Counter(plan.edits for _, plan in plans).items())),
        "functions": len({call.call.name for _, plan in plans for call in plan.calls}),
        "rejects": dict(sum((o.rejects for o in outcomes), Counter()).most_common()),
        "without": [seed.id for seed, n in zip(seeds, found, strict=True) if not n],
        "options": options.model_dump(),
    }
    return result, plans


def refused_officially(tasks: Sequence[Task]) -> list[Task]:
    """The tasks whose references the official checker does not accept.

    Upstream's worlds leak default lists from one rollout into the next of a process, so what is
    refused among others is judged again in a process of its own.
    """
    refused = set(official.official_verdicts(tasks)["refused"])
    suspects = [task for task in tasks if task.id in refused]
    return [task for task in suspects if not official.official_verdicts([task])["valid"]]


def as_task(seed: Task, plan: Proposal) -> Task:
    """The plan as a task in no words at all."""
    turns = tuple(
        Turn(user="", reference=tuple(planned.call for planned in turn)) for turn in plan.turns
    )
    task = seed.model_copy(
        update={"turns": turns, "tools": plan.tools, "initial_state": plan.initial_state}
    )
    return task.with_content_id()


# ------------------------------------------------------------------------- the independent check
def is_isomorphic(environment: Environment, labeller: Labeller, seed: Task, plan: Proposal) -> bool:
    """Seed and plan are one labelled graph: turns, sources, data edges, hard state edges."""
    trace = replay(environment, seed)
    sources = labeller.label(seed, trace, lambda: shown(environment, seed))
    ours = graph(profile(seed, trace, sources), broken(environment, seed))
    theirs = graph(plan.profile, broken(environment, as_task(seed, plan)))
    same_label = nx.algorithms.isomorphism.categorical_node_match("label", None)
    same_edge = nx.algorithms.isomorphism.categorical_edge_match("label", None)
    return bool(nx.is_isomorphic(ours, theirs, node_match=same_label, edge_match=same_edge))


def graph(described: ComplexityProfile, hard: set[tuple[int, int]]) -> Any:
    """Calls with turn and sources; edges with their numbers of parameters and state dependence.

    A seed's argument without a source counts as the user's: the plan has to say it.
    """
    made = nx.DiGraph()
    turn_of = [turn for turn, calls in enumerate(described.calls_per_turn) for _ in range(calls)]
    for call, (turn, sources) in enumerate(zip(turn_of, described.sources, strict=True)):
        kinds = [SourceKind.USER if k is SourceKind.UNKNOWN else k for k in sources.values()]
        made.add_node(call, label=(turn, tuple(sorted(kinds))))
    data = Counter((edge.producer, edge.consumer) for edge in described.edges)
    for pair in data.keys() | hard:
        made.add_edge(*pair, label=(data[pair], pair in hard))
    return made


def broken(environment: Environment, task: Task) -> set[tuple[int, int]]:
    """(i, j): call j fails only if call i is left out; every trial in a world of its own."""
    calls = [call for turn in task.turns for call in turn.reference]
    base = refusals(environment, task, calls)
    found = set()
    for left_out in range(len(calls)):
        without = refusals(environment, task, calls[:left_out] + calls[left_out + 1 :])
        later = range(left_out + 1, len(calls))
        found |= {(left_out, j) for j in later if without[j - 1] and not base[j]}
    return found


def refusals(environment: Environment, task: Task, calls: Sequence[ToolCall]) -> list[bool]:
    """For every call whether it fails."""
    session = environment.open(task)
    try:
        return [session.call(call).error for call in calls]
    finally:
        session.close()


def shown(environment: Environment, task: Task) -> Any:
    """The visible state before the first call."""
    session = environment.open(task)
    try:
        return session.state()
    finally:
        session.close()


# ------------------------------------------------------------------------------------ printing
def report(result: dict[str, Any]) -> None:
    """The numbers as text."""
    seeds = result["seeds"]
    for name in ("with_1", "with_3", "with_10"):
        target = f" (at least {TARGETS[name] * seeds:.0f})" if name in TARGETS else ""
        print(f"{name:15}{result[name]:6} of {seeds}{target}")
    print(f"two edits away  {result['strict_1']} with 1, {result['strict_3']} with 3; ", end="")
    print(f"of seed and evaluation tasks {result['off_seed_1']} and {result['off_seed_3']}")
    print(f"accepted_per_s {result['accepted_per_s']:6.1f} (at least 30, aim 50)")
    for name in ("isomorphic", "official_valid"):
        share = result[name]
        print(f"{name:15}" + (f"{share:6.1%}" if share is not None else "     -"))
    print(f"learned in {result['learn_s']:.1f} s; {result['accepted']} plans of ", end="")
    print(f"{result['functions']} functions, {result['patched']} with a patch, ", end="")
    print(f"{result['fallback']} of seeds that allow too few two edits away")
    print(f"edits from the seed: {result['edits']}")
    print(f"rejects: {result['rejects']}")
    if result.get("official_refused"):
        print(f"the official checker refuses: {result['official_refused']}")
    print(f"no plan: {', '.join(result['without']) or 'none'}")


def show(seed: Task, plan: Proposal) -> None:
    """One plan, a line a turn; after each value the first letter of its source."""
    print(f"\n{seed.id}: {plan.edits} edits, plausibility {plan.plausibility:.2f}")
    for turn in plan.turns:
        print("  " + "; ".join(map(spelled, turn)))
    for patch in plan.patches:
        print(
            f"  patch {'.'.join(map(str, patch.path))} = {str(patch.value)[:60]} ({patch.why[:80]})"
        )


def spelled(planned: PlannedCall) -> str:
    """The call with its sources."""
    given = (f"{k}={v!r}:{planned.sources[k][0]}" for k, v in planned.call.arguments.items())
    return f"{planned.call.name}({', '.join(given)})"


if __name__ == "__main__":
    main()
