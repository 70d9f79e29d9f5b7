"""Plan, execute, rewrite, critique, augment: one seed in, verified variants and rejections out."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace

from rods.synthesis.blueprint import Blueprint
from rods.synthesis.contracts import Draft, Feedback, Plan, PlanStage, Stages, rejection
from rods.synthesis.kept import keeping
from rods.synthesis.reasons import Reason
from rods.synthesis.study import SeedStudy
from rods.synthesis.turns import Turn
from rods.types import Rejection, Stage, Task

_KEPT_BLUEPRINTS = 1024


class Pipeline:
    """Runs the stages. The studies of the last seeds are kept."""

    def __init__(
        self,
        stages: Stages,
        study: SeedStudy,
        *,
        attempts: int,
        trials: int,
        turn: Turn | None = None,
    ) -> None:
        """``turn`` is given up while a language model is waited for."""
        self._stages, self._study = stages, study
        self._attempts, self._trials = attempts, trials
        self._blueprints: OrderedDict[str, Blueprint] = OrderedDict()
        self._turn = turn or Turn()

    def blueprint(self, seed: Task) -> Blueprint:
        """The study of a seed, made when it is first asked for."""
        known = self._blueprints.get(seed.id)
        if known is not None and known.task is not seed and known.task != seed:
            known = None  # another task of the same id
        if known is None:
            known = self._study.of(seed, self._trial, budget=self._trials)
            self._blueprints[seed.id] = known
            if len(self._blueprints) > _KEPT_BLUEPRINTS:
                self._blueprints.popitem(last=False)
        self._blueprints.move_to_end(seed.id)
        return known

    def content_id(self, seed: Task) -> str:
        """What the seed would be called if it were synthetic: no variant may be equal to it."""
        with self._turn:
            return self.blueprint(seed).content_id

    def variant(
        self,
        seed: Task,
        rng: random.Random,
        known: Collection[str] = (),
        planner: PlanStage | None = None,
    ) -> tuple[Draft | None, list[Rejection]]:
        """A verified draft whose content is not ``known``, and why earlier attempts failed.

        Words of a model that the phrases' replaced in a draft are told with them.

        ``planner`` takes the place of the first stage.
        """
        with self._turn:
            return self._variant(seed, rng, known, planner or self._stages.plan)

    def _variant(
        self, seed: Task, rng: random.Random, known: Collection[str], planner: PlanStage
    ) -> tuple[Draft | None, list[Rejection]]:
        blueprint = self.blueprint(seed)
        rejections: list[Rejection] = []
        feedback = Feedback()
        for _ in range(self._attempts):
            with keeping() as kept:
                plan = planner.plan_again(blueprint, rng, feedback)
                made = plan if isinstance(plan, Rejection) else self._attempt(plan, rng)
            if isinstance(made, Draft):
                rejections += made.fallen
                made = replace(self._named(made), kept=frozenset(kept))
                if made.task.id not in known:
                    return made, rejections
                made = rejection(Stage.CRITIQUE, Reason.DUPLICATE, made.task.id, seed.id)
            rejections.append(made)
            if isinstance(plan, Plan):
                feedback.failures.append((plan, made))
            if made.reason == Reason.NOTHING_TO_CHANGE or feedback.ended:
                break
        return None, rejections

    def _attempt(self, plan: Plan, rng: random.Random) -> Draft | Rejection:
        draft = self._worded(plan, rng)
        made = draft if isinstance(draft, Rejection) else self._verified(draft, rng)
        if isinstance(made, Rejection):
            if isinstance(draft, Rejection) or made.reason != Reason.QUERY_VERIFY_FAILED:
                return made
            made = self._refined(draft, made, rng)
        if isinstance(made, Rejection):
            return made
        wider = self._stages.augment.widen(made, rng)
        if wider is made or self._stages.critique.critique(wider) is not None:
            return made
        return wider

    def _worded(self, plan: Plan, rng: random.Random) -> Draft | Rejection:
        execution = self._stages.execute.execute(plan, rng)
        if isinstance(execution, Rejection):
            return execution
        return self._stages.rewrite.rewrite(execution, rng)

    def _verified(self, draft: Draft, rng: random.Random) -> Draft | Rejection:
        """The draft as the kind that its plan wants, through every gate and judged once."""
        critic, edit = self._stages.critique, draft.execution.plan.edit
        if found := critic.critique(draft):
            return found
        if edit is not None and not draft.edit:
            augmented = self._stages.augment.augment(draft, rng)
            if isinstance(augmented, Rejection):
                return augmented
            draft = augmented
            if found := critic.critique(draft):
                return found
        return critic.judge(draft) or draft

    def _refined(self, draft: Draft, found: Rejection, rng: random.Random) -> Draft | Rejection:
        """Only the words were wrong: they are written once more."""
        refined = self._stages.rewrite.refine(draft, found.detail, rng)
        if refined is None or isinstance(refined, Rejection):
            return refined or found
        return self._verified(refined, rng)

    def _trial(self, plan: Plan, rng: random.Random) -> Rejection | None:
        """Why a draft of the plan falls through the gates, before any augmentation."""
        made = self._worded(plan, rng)
        return made if isinstance(made, Rejection) else self._stages.critique.critique(made)

    @staticmethod
    def _named(draft: Draft) -> Draft:
        return replace(draft, task=draft.task.with_content_id())
