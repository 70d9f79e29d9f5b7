"""What verification tells each predictor about a trial, and which of them is to blame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rods.synthesis.reasons import Reason
from rods.synthesis.tuning.trials import Spoken, Trial
from rods.types import Stage

STAGES: Mapping[str, Stage] = {  # a predictor that is not here is named by its stage
    "choose": Stage.PLAN,
    "fill": Stage.EXECUTE,
    "write": Stage.REWRITE,
    "message": Stage.REWRITE,
    "judge": Stage.CRITIQUE,
    "patch": Stage.EXECUTE,
    "blur": Stage.AUGMENT,
}
JUDGES = Stage.CRITIQUE
"""Never tuned: measured by how many variants pass, a judge would learn to let everything pass."""

_FINE = "This step was fine; the failure lies elsewhere."
_VERIFIED = "Verified: the variant passed every check."
_WORDS = (
    Reason.QUERY_GEN_FAILED,
    Reason.QUERY_VERIFY_FAILED,
    Reason.QUERY_VERIFY_NO_TAG,
    Reason.LEAK,
    Reason.NO_SOURCE,
    Reason.STALE_MENTION,
    Reason.REPETITION,
    Reason.WRONG_LENGTH,
    Reason.CALL_UNSAID,
    Reason.FOREIGN_WORDS,
)


def stage_of(predictor: str) -> Stage:
    """The stage that a predictor works for."""
    return STAGES.get(predictor) or Stage(predictor)


def issues(trial: Trial, predictor: str) -> list[str]:
    """What went wrong at the predictor's stage; a writer answers for what a critic finds, too."""
    stage = stage_of(predictor)
    own = list(trial.report.get(stage.value, ()))
    if stage is Stage.REWRITE:
        found = trial.report.get(Stage.CRITIQUE.value, ())
        own += [issue for issue in found if issue.startswith(tuple(map(str, _WORDS)))]
    if trial.error:
        own.append(f"The answer could not be read: {trial.error}")
    return own


def feedback(trial: Trial, predictor: str) -> str:
    """One text for a reflecting model."""
    if trial.ok:
        return _VERIFIED
    return " | ".join(issues(trial, predictor)) or _FINE


def guilty(trials: Sequence[Trial], predictors: Collection[str]) -> str:
    """The predictor with the most issues of its own; of equal ones the first by name."""
    counts = {name: sum(bool(issues(t, name)) for t in trials) for name in sorted(predictors)}
    return max(counts, key=lambda name: counts[name])


def records(trials: Sequence[Trial], predictor: str) -> list[dict[str, Any]]:
    """What the predictor was asked, what it said, and what came of it; failures first."""
    found = [
        {"inputs": said.inputs, "outputs": said.outputs, "feedback": feedback(trial, predictor)}
        for trial in sorted(trials, key=lambda trial: trial.ok)
        for said in _last(trial, predictor)
    ]
    if not found and (failed := [t for t in trials if issues(t, predictor)]):
        return [{"inputs": {}, "outputs": {}, "feedback": feedback(t, predictor)} for t in failed]
    return found


def _last(trial: Trial, predictor: str) -> Sequence[Spoken]:
    return [said for said in trial.spoken if said.predictor == predictor][-1:]
