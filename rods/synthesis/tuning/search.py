"""Two searches over prompts: GEPA for instructions, bootstrapped demonstrations for weak models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gepa
from gepa.core.adapter import EvaluationBatch

from rods.synthesis.tuning.feedback import guilty, records
from rods.synthesis.tuning.proposing import Proposer
from rods.synthesis.tuning.trials import Candidate, Demos, Example, Trial, Trials

_DEMOS = 3
_MINIBATCH = 3


class PromptAdapter:
    """What GEPA (arXiv:2507.19457) asks of a program: scores, examples with feedback, proposals."""

    def __init__(self, trials: Trials, demos: Demos, proposer: Proposer) -> None:
        self._trials, self._demos = trials, demos
        self.propose_new_texts = proposer

    def evaluate(
        self, batch: list[Example], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Trial, Trial]:
        """Every example under the candidate's instructions."""
        made = self._trials.run(candidate, self._demos, batch)
        scores = [trial.score for trial in made]
        return EvaluationBatch(made, scores, made if capture_traces else None)

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],
        eval_batch: EvaluationBatch[Trial, Trial],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """What each of the components said and was told."""
        return {name: records(eval_batch.outputs, name) for name in components_to_update}


class _Blame:
    """GEPA's component selector: the predictor whose stage failed most often."""

    def __init__(self, predictors: Sequence[str]) -> None:
        self._predictors = predictors

    def __call__(
        self,
        state: Any,
        trajectories: list[Trial],
        subsample_scores: list[float],
        candidate_idx: int,
        candidate: dict[str, str],
    ) -> list[str]:
        return [guilty(trajectories, self._predictors)]


class _Quiet:
    """GEPA's logger."""

    def log(self, message: str) -> None:
        """Nothing on the screen."""


def evolve(
    trials: Trials,
    proposer: Proposer,
    start: Candidate,
    demos: Demos,
    *,
    train: Sequence[Example],
    val: Sequence[Example],
    budget: int,
    seed: int,
) -> dict[str, str]:
    """The instructions that score best on ``val``; ``start`` where nothing is better.

    Only the predictors of ``start`` change. ``budget`` trials, and at most those of one more
    minibatch. Equal arguments and answers give equal steps.
    """
    found = gepa.optimize(
        seed_candidate=dict(start),
        trainset=list(train),
        valset=list(val),
        adapter=PromptAdapter(trials, demos, proposer),
        module_selector=_Blame(sorted(start)),
        reflection_minibatch_size=_MINIBATCH,
        max_metric_calls=budget,
        logger=_Quiet(),
        seed=seed,
    )
    best: dict[str, str] = found.best_candidate
    return best


def bootstrap(
    trials: Trials,
    candidate: Candidate,
    *,
    train: Sequence[Example],
    val: Sequence[Example],
    budget: int,
) -> dict[str, list[dict[str, Any]]]:
    """Demonstrations from verified variants, if they make ``val`` no worse; else none."""
    before = trials.run(candidate, {}, val)
    demos: dict[str, list[dict[str, Any]]] = {}
    for example in train[: max(0, budget - 2 * len(val))]:
        (trial,) = trials.run(candidate, {}, [example])
        if trial.ok:
            _collect(demos, trial, set(candidate))
        if demos and all(
            len(demos.get(name, [])) >= _DEMOS for name in _speaking(trial, candidate)
        ):
            break
    if not demos:
        return {}
    after = trials.run(candidate, demos, val)
    return demos if _mean(after) >= _mean(before) else {}


def _collect(demos: dict[str, list[dict[str, Any]]], trial: Trial, wanted: set[str]) -> None:
    for said in trial.spoken:
        known = demos.setdefault(said.predictor, []) if said.predictor in wanted else []
        shown = {**said.inputs, **said.outputs}
        if len(known) < _DEMOS and shown not in known:
            known.append(shown)


def _speaking(trial: Trial, candidate: Candidate) -> set[str]:
    return {said.predictor for said in trial.spoken} & set(candidate)


def _mean(trials: Sequence[Trial]) -> float:
    return sum(trial.score for trial in trials) / len(trials)
