"""Variants of new structure in full, as they come out: to read and to judge by eye.

python benchmarks/variants.py [--environment bfcl|office] [-n N] [--seed S] [--exploration CALLS]
    [--lm MODEL [--lm-url URL]] [--program FILE] [-o TABLE.KEY=VALUE] [--minutes M]

With a model every variant says whether its words are the model's or those of the phrases; below the
latter stands all that the model wrote for them in vain.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from rods.assembly import Assembly, assemble
from rods.synthesis.lm.config import ModelConfig
from rods.synthesis.lm.costs import costs
from rods.synthesis.lm.metered import Backend
from rods.synthesis.lm.models import LanguageModels, open_backend
from rods.synthesis.lm.preflight import require_models
from rods.synthesis.lm.usage import Meter
from rods.synthesis.wording.spoken import fill
from rods.types import Candidate, SynthesisOutcome, Task


@dataclass(slots=True)
class Tally:
    """What the seeds that were asked gave, and what that took."""

    asked: int = 0
    shown: int = 0
    kept: int = 0  # admitted with the seed's own calls: no plan was found, or none could be worded
    worded: int = 0  # in words that a model wrote
    funnel: Counter[str] = field(default_factory=Counter)
    bill: Meter = field(default_factory=Meter)
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Since the first seed."""
        return time.perf_counter() - self.began

    def count(self, outcome: SynthesisOutcome) -> Iterator[Candidate]:
        """The variants of new structure; everything is counted."""
        self.asked += 1
        self.funnel.update(f"{r.stage}: {r.reason}" for r in outcome.rejections)
        for row in outcome.usage:
            self.bill.add(row)
        for candidate in outcome.candidates:
            if is_new(candidate):
                self.shown += 1
                yield candidate
            else:
                self.kept += 1


class Recorder:
    """Keeps what the models answered, so that a variant's words can be told from the phrases."""

    def __init__(self) -> None:
        self.answers: list[str] = []

    def opened(self, config: ModelConfig) -> Backend:
        """The model's own backend, overheard."""
        return _Overheard(open_backend(config), self.answers)

    def wrote(self, task: Task) -> bool:
        """Every message of the task stands in an answer, its placeholders filled."""
        made = task.provenance
        values = {key.strip("{}"): text for key, text in made.substitutions.items()} if made else {}
        filled = [fill(answer, values) for answer in self.answers]
        return all(any(turn.user in answer for answer in filled) for turn in task.turns)


@dataclass(frozen=True, slots=True)
class _Overheard:
    backend: Backend
    answers: list[str]

    def complete(self, request: Any) -> Any:
        response = self.backend.complete(request)
        self.answers.append("".join(getattr(p, "text", "") for p in response.message.parts))
        return response


def main() -> None:
    """Make and print."""
    options = arguments()
    parts = assembled(options)
    environment = parts.environment()
    recorder, tally = Recorder(), Tally()
    synthesizer = parts.component("synthesizer")(parts.config("synthesizer"), environment)
    lm = parts.synthesis.lm
    synthesizer.use(LanguageModels(lm, recorder.opened), lm.program)
    for seed in spread(environment.tasks("train"), options.n):
        recorder.answers.clear()
        outcome = synthesizer.synthesize(seed, n=1, rng_seed=options.seed)
        for candidate in tally.count(outcome):
            print(f"\n{tally.shown}. of {seed.id}, distance {candidate.distance:g}", end="")
            tally.worded += show(candidate, recorder)
        if tally.shown >= options.n or tally.seconds > 60 * options.minutes:
            break
    summarise(tally)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environment", choices=("bfcl", "office"), default="bfcl")
    parser.add_argument("-n", type=int, default=20, help="variants to print")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exploration", type=int, default=12_000, help="calls of the exploration")
    parser.add_argument("--lm", action="append", default=[], help="as `rods synth` has it")
    parser.add_argument("--lm-url", help="as `rods synth` has it")
    parser.add_argument("--program", help="as `rods synth` has it")
    parser.add_argument("-o", action="append", default=[], metavar="TABLE.KEY=VALUE")
    parser.add_argument("--minutes", type=float, default=inf, help="no seed is asked after them")
    return parser.parse_args()


def assembled(options: argparse.Namespace) -> Assembly:
    """The world and the synthesizer as `rods synth` makes them, for new structures alone."""
    flags = {
        "run.preset": ["none"],
        "synthesizer.structures": "new",
        "synthesizer.planning.search.exploration_calls": options.exploration,
        "synthesis.lm.model": options.lm or None,
        "synthesis.lm.url": options.lm_url,
        "synthesis.lm.program": options.program,
    }
    parts = assemble(options.environment, None, options.o, flags)
    require_models(parts.synthesis.lm)
    return parts


def spread(tasks: Sequence[Task], wanted: int) -> Iterator[Task]:
    """The base seeds, first those at even steps through all of them; some give no variant."""
    seeds = [task for task in tasks if task.kind == "base"]
    stride = max(1, len(seeds) // (wanted * 2))
    for first in range(stride):
        yield from seeds[first::stride]


def is_new(candidate: Candidate) -> bool:
    """The candidate has other functions than its seed: its values stand under placeholders."""
    made = candidate.task.provenance
    return made is not None and any(key.startswith("{") for key in made.substitutions)


def show(candidate: Candidate, recorder: Recorder) -> bool:
    """The turns with their calls; whether a model worded them."""
    by_model = bool(recorder.answers) and recorder.wrote(candidate.task)
    print(f", in the words of {'the model' if by_model else 'the phrases'}")
    for turn in candidate.task.turns:
        print(f"   User: {turn.user}")
        for call in turn.reference:
            arguments = ", ".join(f"{k}={json.dumps(v)}" for k, v in call.arguments.items())
            print(f"      {call.name}({arguments})")
    for answer in [] if by_model else recorder.answers:
        print(f"   not used: {json.dumps(answer, ensure_ascii=False)}")
    sys.stdout.flush()
    return by_model


def summarise(tally: Tally) -> None:
    """Yield, reasons, and what the language models took, the rejected attempts included."""
    print(f"\n{tally.shown} of new structure from {tally.asked} seeds", end="")
    print(f", {tally.kept} with the seed's own calls; {tally.worded} in words of a model")
    print("rejected attempts:")
    for reason, count in tally.funnel.most_common():
        print(f"  {count} {reason}")
    print(f"{tally.seconds:.0f} seconds in all")
    for name, cost in costs(tally.bill.rows(), tally.shown, {}).items():
        tokens = f"{cost.tokens_in} tokens sent, {cost.tokens_out} received"
        print(f"{name}: {cost.calls} calls, {tokens}, {cost.seconds:.0f} seconds", end="")
        print(f"; per variant of new structure {per_task(cost.calls_per_task)} calls, ", end="")
        print(f"{per_task(cost.tokens_per_task)} tokens, {per_task(cost.seconds_per_task)} seconds")


def per_task(amount: float | None) -> str:
    """A share, or that there is none."""
    return "-" if amount is None else f"{amount:.1f}"


if __name__ == "__main__":
    main()
