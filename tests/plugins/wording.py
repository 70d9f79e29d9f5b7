"""A synthesizer that has a language model say the seed again."""

from __future__ import annotations

from collections.abc import Iterable

import rods
from rods.interfaces import StageModels
from rods.types import Candidate, Stage, SynthesisOutcome, Task


class WordingSynthesizer(rods.Synthesizer):
    """The seed's first turn in the model's words."""

    name = "wording"

    def use(self, models: StageModels, program: str = "") -> None:
        """Ask these."""
        self.models = models

    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        """One variant by one call."""
        import dspy  # noqa: PLC0415 - only with a model

        with self.models.of(Stage.REWRITE, seed.id):
            words = dspy.Predict("what -> request")(what=f"{seed.id} {rng_seed}").request
        turns = (seed.turns[0].model_copy(update={"user": words}), *seed.turns[1:])
        task = seed.model_copy(
            update={"turns": turns, "parent_id": seed.id, "origin": "synthetic"}
        ).with_content_id()
        return SynthesisOutcome(candidates=(Candidate(task=task, seed_id=seed.id),))


@rods.hookimpl
def rods_register_synthesizers() -> Iterable[type[rods.Synthesizer]]:
    """The one above."""
    return [WordingSynthesizer]
