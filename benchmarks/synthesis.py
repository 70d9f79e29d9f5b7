"""Admitted variants a second and core, without a language model, on BFCL's train split.

Every seed is asked for `--per-seed` variants. `first` counts all work, the study of each seed
(which of its values can change) included; `later` asks the same seeds again, as a training run does
at each selection; `redraw` draws one variant anew. All are CPU seconds of one thread, next to the
floor that no pipeline can beat: two executions of a reference in fresh worlds. A sample of the
variants is judged by the official checker in a child process, each reference as its own rollout.

    python benchmarks/synthesis.py [--per-seed N] [--environment bfcl|office] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from rods.interfaces import Environment
from rods.structure.trace import replay
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.types import SynthesisOutcome, Task

WORLDS = {
    "bfcl": "rods_bfcl.environment:BfclEnvironment",
    "office": "rods_office.environment:OfficeEnvironment",
}
CHECKER = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker"
STUDY_SHARE = 0.85  # of BFCL's tasks in the feasibility study that value resampling changes
LEAST, AIM = 150, 300  # admitted variants a second


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--per-seed", type=int, default=5, help="variants asked of each seed")
    parser.add_argument("--environment", choices=WORLDS, default="bfcl")
    parser.add_argument("--official-sample", type=int, default=200, help="variants to check")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--official", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.official:
        judge_officially()
        return
    environment = loaded(options.environment)
    result, variants = measure(environment, options.per_seed)
    if options.environment == "bfcl" and options.official_sample:
        step = max(1, len(variants) // options.official_sample)
        result["official"] = official_verdicts(variants[::step])
    if options.json:
        print(json.dumps(result))
    else:
        report(result)


def loaded(name: str) -> Environment:
    """The world by its name."""
    module, _, kind = WORLDS[name].partition(":")
    return getattr(import_module(module), kind)()  # type: ignore[no-any-return]


def measure(environment: Environment, per_seed: int) -> tuple[dict[str, Any], list[Task]]:
    """All numbers, and the variants of the first pass."""
    synthesizer = SkillAlignedSynthesizer(None, environment)
    seeds = list(environment.tasks("train"))
    environment.tasks("eval")
    setup, _ = cpu_seconds(lambda: synthesizer.synthesize(seeds[0], n=1, rng_seed=0))
    floor, _ = cpu_seconds(lambda: [replay(environment, seed) for seed in seeds for _ in range(2)])

    def ask(rng_seed: int) -> list[SynthesisOutcome]:
        return [synthesizer.synthesize(seed, n=per_seed, rng_seed=rng_seed) for seed in seeds]

    first, outcomes = cpu_seconds(lambda: ask(1))
    later, again = cpu_seconds(lambda: ask(2))
    redraw, drawn = cpu_seconds(lambda: [synthesizer.redraw(s, rng_seed=3) for s in seeds])
    admitted, admitted_again = (sum(len(o.candidates) for o in made) for made in (outcomes, again))
    result = {
        "seeds": len(seeds),
        "seeds_with_variants": sum(bool(o.candidates) for o in outcomes),
        "per_seed": per_seed,
        "admitted": admitted,
        "distances": dict(Counter(c.distance for o in outcomes for c in o.candidates)),
        "funnel": funnel(outcomes),
        "setup_s": setup,
        "first_per_s": admitted / first,
        "later_per_s": admitted_again / later,
        "redraw_per_s": sum(task is not None for task in drawn) / redraw,
        "floor_per_s": len(seeds) / floor,
    }
    return result, [c.task for o in outcomes for c in o.candidates]


def cpu_seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of this process, and what ``run`` gave."""
    start = time.process_time()
    value = run()
    return time.process_time() - start, value


def funnel(outcomes: Sequence[SynthesisOutcome]) -> dict[str, dict[str, int]]:
    """Stage -> reason -> count."""
    counted: dict[str, Counter[str]] = {}
    for rejection in (r for outcome in outcomes for r in outcome.rejections):
        counted.setdefault(rejection.stage.value, Counter())[rejection.reason] += 1
    return {stage: dict(reasons.most_common()) for stage, reasons in sorted(counted.items())}


def report(result: dict[str, Any]) -> None:
    """The numbers as text."""
    seeds, good = result["seeds"], result["seeds_with_variants"]
    print(f"{good} of {seeds} seeds have a variant ({good / seeds:.0%}; study {STUDY_SHARE:.0%})")
    print(f"{result['admitted']} admitted; distance to the seed: {result['distances']}")
    for stage, reasons in result["funnel"].items():
        print(f"  {stage:9}" + ", ".join(f"{reason} {n}" for reason, n in reasons.items()))
    print("admitted a second and core")
    for name in ("first", "later", "redraw", "floor"):
        rate = result[f"{name}_per_s"]
        print(f"  {name:7}{rate:8.0f}{rate / result['floor_per_s']:8.2f} of the floor")
    print(f"  (at least {LEAST}, aim {AIM}; set-up of the index {result['setup_s']:.2f} s)")
    if official := result.get("official"):
        print(f"official checker: {official['valid']} of {official['checked']} valid")


# ---------------------------------------------------------------- the official checker, in a child
def official_verdicts(variants: Sequence[Task]) -> dict[str, Any]:
    """How many references the official checker accepts as rollouts of their own tasks."""
    lines = "\n".join(json.dumps(as_entry(task)) for task in variants)
    child = subprocess.run(
        [sys.executable, __file__, "--official"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return json.loads(child.stdout)  # type: ignore[no-any-return]


def as_entry(task: Task) -> dict[str, Any]:
    """A variant in BFCL's own format: the entry and its ground truth."""
    render = import_module("rods_bfcl.parsing").render_call
    state: dict[str, Any] = task.initial_state
    return {
        "id": task.id,
        "category": f"multi_turn_{task.kind}",
        "initial_config": state["config"],
        "involved_classes": state["classes"],
        "ground_truth": [[render(call) for call in turn.reference] for turn in task.turns],
    }


def judge_officially() -> None:
    """Read entries, one a line; print how many the official checker accepts."""
    sys.path.insert(0, import_module("rods_bfcl.asset").open_asset().origin)
    checker = import_module(CHECKER)
    refused = []
    entries = [json.loads(line) for line in sys.stdin]
    for number, entry in enumerate(entries):
        steps = [[[call] for call in turn] for turn in entry["ground_truth"]]
        verdict = checker.multi_turn_checker(
            steps, entry["ground_truth"], entry, entry["category"], f"run{number}"
        )
        if not verdict["valid"]:
            refused.append(entry["id"])
    valid = len(entries) - len(refused)
    print(json.dumps({"checked": len(entries), "valid": valid, "refused": refused}))


if __name__ == "__main__":
    main()
