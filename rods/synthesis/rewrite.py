"""III. Rewrite without a language model: the same substitution in the human wording."""

from __future__ import annotations

import random

from rods.synthesis.contracts import Draft, Execution, RewriteStage
from rods.synthesis.substitution import TextTemplate
from rods.types import Rejection, Task, Turn


class Substituter(RewriteStage):
    """Keeps the seed's sentences and puts the new values where the old ones stood."""

    def rewrite(self, execution: Execution, rng: random.Random) -> Draft | Rejection:
        """The variant in the seed's words; each spelling of an old value has become its new one."""
        blueprint = execution.plan.blueprint
        seed, drawn = blueprint.task, execution.drawn
        users = blueprint.templates.users(drawn)
        turns = tuple(
            Turn.model_construct(
                user=user,
                reference=calls,
                reveals=turn.reveals,
                answer=TextTemplate(turn.answer, drawn.texts).render(drawn.texts),
            )
            for user, calls, turn in zip(users, execution.reference, seed.turns, strict=True)
        )
        task = Task.model_construct(
            id=seed.id,
            environment=seed.environment,
            kind=seed.kind,
            split="train",
            tools=seed.tools,
            turns=turns,
            initial_state=execution.initial_state,
            origin="synthetic",
            parent_id=seed.id,
            generation=seed.generation + 1,
            flags=seed.flags,
            provenance=None,
            noise=seed.noise,
        )
        changed = {old: new for old, new in drawn.texts.items() if old != new}
        changed |= {str(old): str(new) for old, new in drawn.numbers.items()}
        return Draft(
            task=task,
            execution=execution,
            expected=blueprint.profile,
            claimed=execution.trace,
            substitutions=changed,
        )
