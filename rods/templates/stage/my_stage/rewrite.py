"""The third of the five stages: it words the user's turns of a task that has run already."""

from __future__ import annotations

import random
from dataclasses import replace

from rods.interfaces import ComponentConfig, Environment
from rods.synthesis.contracts import Draft, Execution, RewriteStage
from rods.synthesis.rewrite import Substituter
from rods.types import Rejection

OPENINGS = ("", "Please: ", "One more thing. ", "When you have a minute: ")


class MyStage(RewriteStage):
    """The seed's own sentences with the new values, after a varying opening.

    The other stages are PlanStage, ExecuteStage, CritiqueStage and AugmentStage. Each gets the
    synthesizer's options and the world. What it returns is checked by the critique; to give up, it
    returns a ``Rejection``, it never raises.
    """

    def __init__(self, config: ComponentConfig, environment: Environment) -> None:
        self.config, self.environment = config, environment
        self.plain = Substituter()  # the stage that works without a language model

    def rewrite(self, execution: Execution, rng: random.Random) -> Draft | Rejection:
        """The task in words. All chance comes from ``rng``: equal seeds, equal variants."""
        draft = self.plain.rewrite(execution, rng)
        if isinstance(draft, Rejection):
            return draft
        opening = rng.choice(OPENINGS)
        turns = tuple(
            turn.model_copy(update={"user": f"{opening}{turn.user}"}) if turn.reference else turn
            for turn in draft.task.turns
        )
        return replace(draft, task=draft.task.model_copy(update={"turns": turns}))
