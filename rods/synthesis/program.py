"""The predictors as one DSPy program, and as the assistant of the stages. Loads dspy."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import dspy

from rods.errors import WorldError
from rods.interfaces import StageModels
from rods.synthesis.predictors import (
    CRITERIA,
    ChoosePlan,
    FillTexts,
    JudgeTask,
    LeaveOut,
    PatchState,
    WriteConversation,
    WriteMessage,
)
from rods.synthesis.structures.assistant import (
    Blurred,
    Choice,
    Judgement,
    JudgingTask,
    Patching,
    PatchTask,
    WritingTask,
    Written,
)
from rods.synthesis.turns import Turn
from rods.synthesis.workshop import Workshop
from rods.types import Stage, Task

logger = logging.getLogger(__name__)


class Predictors(dspy.Module):
    """One predictor for each question; what `rods tune` changes."""

    def __init__(self) -> None:
        super().__init__()
        self.choose = dspy.Predict(ChoosePlan)
        self.fill = dspy.Predict(FillTexts)
        self.write = dspy.Predict(WriteConversation)
        self.message = dspy.Predict(WriteMessage)
        self.judge = dspy.Predict(JudgeTask)
        self.patch = dspy.Predict(PatchState)
        self.blur = dspy.Predict(LeaveOut)


def assisted(models: StageModels, program: str, turn: Turn) -> tuple[ModelAssistant, str]:
    """The assistant with the prompts of ``program``, if any, and their digest."""
    predictors, digest = Predictors(), ""
    if program:
        tuning = import_module("rods.synthesis.tuning")  # only with tuned prompts
        digest = str(tuning.apply_program(program, predictors))
    return ModelAssistant(models, predictors, turn), digest


class ModelAssistant:
    """Asks the predictors, each under the model of its stage; gives the turn up meanwhile.

    An answer that cannot be read is no answer; an outage passes.
    """

    def __init__(self, models: StageModels, predictors: Any, turn: Turn) -> None:
        self._models, self._predictors, self._turn = models, predictors, turn

    def helps(self, stage: Stage) -> bool:
        """A model is configured for the stage."""
        return self._models.has(stage)

    def choose(
        self, key: str, domain: str, options: Sequence[str], guidance: Sequence[str]
    ) -> Choice | None:
        """The option chosen and its narrative."""
        numbered = [f"{number}. {option}" for number, option in enumerate(options, 1)]
        answer = self._ask(
            Stage.PLAN,
            key,
            self._predictors.choose,
            functions=domain,
            options=numbered,
            guidance=list(guidance),
        )
        return None if answer is None else Choice(answer.choice - 1, answer.narrative)

    def fill(self, key: str, story: str, texts: Mapping[str, str]) -> Mapping[str, str]:
        """The texts by name."""
        wanted = [f"{name}: {purpose}" for name, purpose in texts.items()]
        answer = self._ask(Stage.EXECUTE, key, self._predictors.fill, story=story, wanted=wanted)
        return {} if answer is None else {one.placeholder: one.text for one in answer.texts}

    def write(self, key: str, task: WritingTask) -> Written | None:
        """The whole conversation in one call."""
        answer = self._ask(
            Stage.REWRITE,
            key,
            self._predictors.write,
            narrative=task.narrative or "not told; make the messages belong together",
            requests=[
                f"message {number}: {'; then '.join(actions) or 'only small talk'}"
                for number, actions in enumerate(task.messages, 1)
            ],
            required=[
                f"message {number}: {' '.join(labels) or 'none'}"
                for number, labels in enumerate(task.required, 1)
            ],
            values=[f"{label} is the {meaning}" for label, meaning in task.values.items()],
            unknown=list(task.forbidden),
            remarks=list(task.remarks),
        )
        if answer is None:
            return None
        texts = {one.placeholder: one.text for one in answer.texts or ()}
        return Written(tuple(answer.messages), texts)

    def write_one(self, key: str, request: str) -> str | None:
        """One message by itself."""
        answer = self._ask(Stage.REWRITE, key, self._predictors.message, request=request)
        return None if answer is None else str(answer.message)

    def blur(self, key: str, message: str, missing: str) -> Blurred | None:
        """The message without its value, and the one that supplies it."""
        answer = self._ask(
            Stage.AUGMENT, key, self._predictors.blur, message=message, missing=missing
        )
        return None if answer is None else Blurred(str(answer.request), str(answer.supply))

    def patch(self, key: str, task: PatchTask) -> Patching | None:
        """The place, and what is to stand there."""
        answer = self._ask(
            Stage.EXECUTE,
            key,
            self._predictors.patch,
            call=task.call,
            error=task.error,
            places=[f"{number}. {place}" for number, place in enumerate(task.places, 1)],
            tried=list(task.tried),
        )
        if answer is None:
            return None
        return Patching(answer.place - 1, str(answer.key or ""), str(answer.value))

    def judge(self, key: str, task: JudgingTask, judges: int) -> Sequence[Judgement]:
        """The verdicts, each by the next member of an ensemble."""
        verdicts = []
        for number in range(judges):
            answer = self._ask(
                Stage.CRITIQUE,
                f"{key}/{number}",
                self._predictors.judge,
                changes=list(task.changes),
                calls=list(task.calls),
                messages=list(task.messages),
            )
            if answer is not None:
                criteria = {name: bool(getattr(answer, name)) for name in CRITERIA}
                verdicts.append(Judgement(criteria, answer.fault, answer.remarks or ""))
        return verdicts

    def _ask(self, stage: Stage, key: str, predictor: Callable[..., Any], **inputs: Any) -> Any:
        """The prediction; None where the answer could not be read."""
        with self._turn.given_up(), self._models.of(stage, key):
            try:
                return predictor(**inputs)
            except WorldError:
                raise
            except Exception as error:
                if _outage(error):
                    raise
                logger.info("The %s model's answer could not be read: %s", stage, error)
                return None


def _outage(error: BaseException | None) -> bool:
    """An outage of the model or the world stands behind the error."""
    while error is not None and not isinstance(error, WorldError):
        error = error.__cause__ or error.__context__
    return error is not None


class SynthesisProgram(Predictors):
    """The whole synthesis of one variant as a program: what is tuned is what makes tasks.

    A deep copy has predictors of its own and shares environment, models and studies.
    """

    def __init__(self, workshop: Workshop, models: StageModels) -> None:
        super().__init__()
        self.workshop, self.models = workshop, models
        self._seeds: _Seeds = _Seeds(workshop)

    def forward(self, seed_id: str, rng_seed: int = 0) -> dspy.Prediction:
        """``ok``, ``report`` (stage -> what went wrong there) and ``tasks``."""
        seed = self._seeds.task(seed_id)
        assistant = ModelAssistant(self.models, self, self.workshop.turn)
        pipeline = self.workshop.pipeline(assistant)
        draft, failed = pipeline.variant(seed, random.Random(f"{rng_seed}/{seed_id}"), {seed_id})
        report: dict[str, list[str]] = {stage.value: [] for stage in Stage}
        for rejection in failed:
            report[rejection.stage.value].append(f"{rejection.reason}: {rejection.detail}")
        tasks = [] if draft is None else [draft.task]
        new = draft is not None and draft.execution.plan.proposal is not None
        return dspy.Prediction(ok=new and not failed, report=report, tasks=tasks)


class _Seeds:
    """The train tasks by id; shared by copies of a program."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._by_id: dict[str, Task] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> _Seeds:
        return self

    def task(self, seed_id: str) -> Task:
        if not self._by_id:
            self._by_id = {t.id: t for t in self._workshop.environment.tasks("train")}
        return self._by_id[seed_id]
