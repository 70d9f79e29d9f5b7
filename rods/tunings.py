"""From settings to a tuning of the synthesis's prompts, and what its journal belongs to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rods.assembly import Assembly
from rods.errors import ConfigError
from rods.interfaces import Environment
from rods.preflight import no_train_tasks
from rods.synthesis.lm.config import EMBEDDED, LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.lm.preflight import require_models
from rods.synthesis.tuning import apply_program
from rods.synthesis.tuning.journal import Journal
from rods.synthesis.tuning.subject import reflecting_config, subject
from rods.synthesis.tuning.tuner import Method, Seeds, Tuner
from rods.types import JsonObject, Stage


@dataclass(frozen=True, slots=True)
class TuningRequest:
    """What a user asks for beside the settings; empty values leave the choice to rods."""

    reflect_lm: str = ""
    reflect_url: str = ""
    stages: Collection[Stage] = ()
    method: Method | None = None
    budget: int = 200
    held_out: int = 24
    seed: int | None = None
    workers: int = 1


def tuner_of(
    parts: Assembly, environment: Environment, journal: Path, request: TuningRequest
) -> Tuner:
    """The tuning that these settings and this request describe; models that are absent are told."""
    lm = parts.synthesis.lm
    reflecting = reflecting_config(lm, request.reflect_lm, request.reflect_url)
    require_models(reflecting)
    models = parts.language_models()
    program = subject(parts.config("synthesizer"), environment, models)
    before = apply_program(lm.program, program) if lm.program else ""
    seed = parts.run.seed if request.seed is None else request.seed
    train = environment.tasks("train")
    if not train:
        raise ConfigError(no_train_tasks(environment))
    seeds = Seeds.split([task.id for task in train], request.held_out, seed)
    kept = Journal(journal)
    kept.begin(
        {
            **_inputs(parts, environment),
            "seeds": [len(seeds.train), len(seeds.val), len(seeds.held_out), seed],
            "reflecting": reflecting.model_dump(mode="json"),
            "program": before,
        }
    )
    return Tuner(
        program,
        models,
        LanguageModels(reflecting),
        seeds,
        kept,
        stages=request.stages,
        method=request.method or _method_for(lm),
        budget=request.budget,
        seed=seed,
        workers=request.workers,
    )


def _inputs(parts: Assembly, environment: Environment) -> JsonObject:
    """What a journal must agree with before it is gone on with."""
    synthesizer: Any = parts.config("synthesizer")
    return {
        "environment": environment.name,
        "data": dict(environment.data_hashes()),
        "models": parts.synthesis.lm.model_dump(mode="json"),
        "synthesizer": synthesizer.model_dump(mode="json"),
    }


def _method_for(lm: LmConfig) -> Method:
    """Weak models learn from examples, not from instructions."""
    weak = all(model.model == (EMBEDDED,) for stage in Stage for model in lm.of(stage))
    return "bootstrap" if weak else "gepa"
