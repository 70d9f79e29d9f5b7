"""Plan, execute, rewrite, critique, augment: one seed in, verified variants and rejections out."""

from __future__ import annotations

import random
import threading
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace

from rods.synthesis.blueprint import Blueprint
from rods.synthesis.contracts import Draft, Plan, Stages, rejection
from rods.synthesis.reasons import Reason
from rods.synthesis.study import SeedStudy
from rods.types import Rejection, Stage, Task

_KEPT_BLUEPRINTS = 1024


class Pipeline:
    """Runs the stages. The studies of the last seeds are kept."""

    def __init__(self, stages: Stages, study: SeedStudy, *, attempts: int, trials: int) -> None:
        self._stages, self._study = stages, study
        self._attempts, self._trials = attempts, trials
        self._blueprints: OrderedDict[str, Blueprint] = OrderedDict()
        self._turn = threading.RLock()  # training redraws while a worker makes variants

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
        self, seed: Task, rng: random.Random, known: Collection[str] = ()
    ) -> tuple[Draft | None, list[Rejection]]:
        """A verified draft whose content is not ``known``, and why earlier attempts failed."""
        with self._turn:
            return self._variant(seed, rng, known)

    def _variant(
        self, seed: Task, rng: random.Random, known: Collection[str]
    ) -> tuple[Draft | None, list[Rejection]]:
        blueprint = self.blueprint(seed)
        rejections: list[Rejection] = []
        for _ in range(self._attempts):
            made = self._attempt(blueprint, rng)
            if isinstance(made, Draft):
                made = self._named(made)
                if made.task.id not in known:
                    return made, rejections
                made = rejection(Stage.CRITIQUE, Reason.DUPLICATE, made.task.id, seed.id)
            rejections.append(made)
            if made.reason == Reason.NOTHING_TO_CHANGE:
                break
        return None, rejections

    def _attempt(self, blueprint: Blueprint, rng: random.Random) -> Draft | Rejection:
        plan = self._stages.plan.plan(blueprint, rng)
        if isinstance(plan, Rejection):
            return plan
        draft = self._draft(plan, rng)
        if isinstance(draft, Rejection) or plan.edit is None:
            return draft
        augmented = self._stages.augment.augment(draft, rng)
        if isinstance(augmented, Rejection):
            return augmented
        return self._stages.critique.critique(augmented) or augmented

    def _draft(self, plan: Plan, rng: random.Random) -> Draft | Rejection:
        """Executed, worded and through every gate."""
        execution = self._stages.execute.execute(plan, rng)
        if isinstance(execution, Rejection):
            return execution
        draft = self._stages.rewrite.rewrite(execution, rng)
        if isinstance(draft, Rejection):
            return draft
        return self._stages.critique.critique(draft) or draft

    def _trial(self, plan: Plan, rng: random.Random) -> Rejection | None:
        made = self._draft(plan, rng)
        return made if isinstance(made, Rejection) else None

    @staticmethod
    def _named(draft: Draft) -> Draft:
        return replace(draft, task=draft.task.with_content_id())
