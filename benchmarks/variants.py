"""Variants of new structure in full, as they come out: to read and to judge by eye.

python benchmarks/variants.py [--environment bfcl|office] [-n N] [--seed S] [--exploration CALLS]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from importlib import import_module

from rods.interfaces import Environment
from rods.synthesis.skill_aligned import SkillAlignedSynthesizer
from rods.types import Candidate

WORLDS = {
    "bfcl": "rods_bfcl.environment:BfclEnvironment",
    "office": "rods_office.environment:OfficeEnvironment",
}


def main() -> None:
    """Make and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environment", choices=WORLDS, default="bfcl")
    parser.add_argument("-n", type=int, default=20, help="variants to print")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exploration", type=int, default=12_000, help="calls of the exploration")
    options = parser.parse_args()
    module, _, kind = WORLDS[options.environment].partition(":")
    environment: Environment = getattr(import_module(module), kind)()
    config = SkillAlignedSynthesizer.Config.model_validate(
        {
            "structures": "new",
            "planning": {"search": {"exploration_calls": options.exploration}},
        }
    )
    synthesizer = SkillAlignedSynthesizer(config, environment)
    seeds = [task for task in environment.tasks("train") if task.kind == "base"]
    stride = max(1, len(seeds) // (options.n * 2))  # spread over the seeds; some give none
    shown, asked, funnel = 0, 0, Counter[str]()
    for seed in seeds[::stride]:
        outcome = synthesizer.synthesize(seed, n=1, rng_seed=options.seed)
        asked += 1
        funnel.update(f"{r.stage}: {r.reason}" for r in outcome.rejections)
        for candidate in filter(is_new, outcome.candidates):
            shown += 1
            print(f"\n{shown}. of {seed.id}, distance {candidate.distance:g}")
            show(candidate)
        if shown >= options.n:
            break
    print(f"\n{shown} of new structure from {asked} seeds; rejected attempts:")
    for reason, count in funnel.most_common():
        print(f"  {count} {reason}")


def is_new(candidate: Candidate) -> bool:
    """The candidate has other functions than its seed: its values stand under placeholders."""
    made = candidate.task.provenance
    return made is not None and any(key.startswith("{") for key in made.substitutions)


def show(candidate: Candidate) -> None:
    """The turns with their calls."""
    for turn in candidate.task.turns:
        print(f"   User: {turn.user}")
        for call in turn.reference:
            arguments = ", ".join(f"{k}={json.dumps(v)}" for k, v in call.arguments.items())
            print(f"      {call.name}({arguments})")


if __name__ == "__main__":
    main()
