"""A synthesizer for the fake world: a new story of the seed's kind, or a rejection."""

from __future__ import annotations

import random

from pydantic import Field

from rods.interfaces import Synthesizer
from rods.testing.world import story_task
from rods.types import (
    Candidate,
    Provenance,
    Rejection,
    Stage,
    SynthesisOutcome,
    Task,
)


class FakeSynthesizer(Synthesizer):
    """Deterministic variants in microseconds."""

    name = "fake"

    class Config(Synthesizer.Config):
        """How often it fails."""

        rejected: float = Field(0.25, ge=0, le=1, description="Share of attempts that fail.")
        stories: int = Field(10_000, ge=1, description="Different variants that there are.")

    config: Config

    def synthesize(self, seed: Task, *, n: int, rng_seed: int) -> SynthesisOutcome:
        """``n`` attempts; about ``config.rejected`` of them fail in the critique."""
        rng = random.Random(f"{rng_seed}/{seed.id}")
        candidates, rejections = [], []
        for _ in range(n):
            if rng.random() < self.config.rejected:
                rejections.append(
                    Rejection(stage=Stage.CRITIQUE, reason="no_source", seed_id=seed.id)
                )
            else:
                task = self._variant(seed, rng.randrange(self.config.stories), rng_seed)
                candidates.append(Candidate(task=task, seed_id=seed.id))
        return SynthesisOutcome(candidates=tuple(candidates), rejections=tuple(rejections))

    def redraw(self, task: Task, *, rng_seed: int) -> Task | None:
        """Another story of the same kind."""
        story = random.Random(f"{rng_seed}/{task.id}").randrange(self.config.stories)
        return self._variant(task, story, rng_seed)

    def _variant(self, seed: Task, story: int, rng_seed: int) -> Task:
        task = story_task("train", seed.kind, 1_000 + story, seed.environment)
        lineage = {
            "origin": "synthetic",
            "parent_id": seed.id,
            "generation": seed.generation + 1,
            "provenance": Provenance(synthesizer=self.name, seed=rng_seed),
        }
        return task.model_copy(update=lineage).with_content_id()
