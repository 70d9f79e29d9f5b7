"""Variants of new structure in full, as they come out: to read and to judge by eye.

python benchmarks/variants.py [--environment bfcl|office] [-n N] [--seed S] [--exploration CALLS]
    [--lm MODEL [--lm-url URL]] [--program FILE] [-o TABLE.KEY=VALUE] [--minutes M] [--part I/N]

With a model every variant says how many of its messages are in the model's words, the others being
those of the phrases; below it stands all that the model wrote for it in vain.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
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
    worded: int = 0  # with a message at least in words that a model wrote
    messages: int = 0  # in a model's words
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

    def wrote(self, task: Task) -> int:
        """How many messages of the task stand in an answer, their placeholders filled."""
        made = task.provenance
        if made is None or "rewrite" not in made.stages:
            return 0
        return sum(any(turn.user in answer for answer in self._filled(task)) for turn in task.turns)

    def unused(self, task: Task) -> list[str]:
        """The answers that no message of the task stands in."""
        pairs = zip(self.answers, self._filled(task), strict=True)
        return [raw for raw, text in pairs if not any(turn.user in text for turn in task.turns)]

    def _filled(self, task: Task) -> list[str]:
        made = task.provenance
        values = {key.strip("{}"): text for key, text in made.substitutions.items()} if made else {}
        return [fill(answer, values) for answer in self.answers]


@dataclass(frozen=True, slots=True)
class _Overheard:
    backend: Backend
    answers: list[str]

    def complete(self, request: Any) -> Any:
        response = self.backend.complete(request)
        self.answers.append("".join(map(_text, response.message.parts)))
        return response


def _text(part: Any) -> str:
    """What a part says: its text, or the JSON that a schema has forced."""
    value = getattr(part, "value", None)
    return json.dumps(value) if value is not None else str(getattr(part, "text", ""))


def main() -> None:
    """Make and print."""
    options = arguments()
    parts = assembled(options)
    environment = parts.environment()
    recorder, tally = Recorder(), Tally()
    synthesizer = parts.component("synthesizer")(parts.config("synthesizer"), environment)
    lm = parts.synthesis.lm
    synthesizer.use(LanguageModels(lm, recorder.opened), lm.program)
    part, parts_in_all = map(int, options.part.split("/"))
    seeds = spread(environment.tasks("train"), options.n * parts_in_all)
    for seed in islice(seeds, part - 1, None, parts_in_all):
        recorder.answers.clear()
        outcome = synthesizer.synthesize(seed, n=1, rng_seed=options.seed)
        for candidate in tally.count(outcome):
            print(f"\n{tally.shown}. of {seed.id}, distance {candidate.distance:g}", end="")
            by_model = show(candidate, recorder)
            tally.worded, tally.messages = tally.worded + bool(by_model), tally.messages + by_model
        if tally.shown >= options.n or tally.seconds > 60 * options.minutes:
            break
    summarise(tally)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environment", choices=("bfcl", "office"), default="bfcl")
    parser.add_argument("-n", type=int, default=20, help="variants to print")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exploration", type=int, default=48_000, help="calls of the exploration")
    parser.add_argument("--lm", action="append", default=[], help="as `rods synth` has it")
    parser.add_argument("--lm-url", help="as `rods synth` has it")
    parser.add_argument("--program", help="as `rods synth` has it")
    parser.add_argument("-o", action="append", default=[], metavar="TABLE.KEY=VALUE")
    parser.add_argument("--minutes", type=float, default=inf, help="no seed is asked after them")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th seed, from the I-th on")
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
    """The candidate has other functions than its seed."""
    made = candidate.task.provenance
    return made is not None and made.structure == "new"


def show(candidate: Candidate, recorder: Recorder) -> int:
    """The turns with their calls; how many of them a model worded."""
    by_model, turns = recorder.wrote(candidate.task), len(candidate.task.turns)
    told = f"{by_model} of {turns} messages in the words of the model"
    print(f", {told}" if by_model else ", in the words of the phrases")
    for turn in candidate.task.turns:
        print(f"   User: {turn.user}")
        for call in turn.reference:
            arguments = ", ".join(f"{k}={json.dumps(v)}" for k, v in call.arguments.items())
            print(f"      {call.name}({arguments})")
    for answer in recorder.unused(candidate.task):
        print(f"   not used: {json.dumps(answer, ensure_ascii=False)}")
    sys.stdout.flush()
    return by_model


def summarise(tally: Tally) -> None:
    """Yield, reasons, and what the language models took, the rejected attempts included."""
    print(f"\n{tally.shown} of new structure from {tally.asked} seeds", end="")
    print(f", {tally.kept} with the seed's own calls; ", end="")
    print(f"{tally.worded} with words of a model, in {tally.messages} messages")
    print("rejected attempts, and words of a model that the phrases replaced:")
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
