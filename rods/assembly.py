"""From settings to the parts of a run: which classes, with which configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from rods.config import (
    COMPONENT_TABLES,
    TABLES,
    EvaluationConfig,
    PoolConfig,
    RunConfig,
    Settings,
    Tables,
    load_settings,
    split_names,
)
from rods.curriculum import CurriculumConfig
from rods.errors import ConfigError, did_you_mean
from rods.interfaces import Buffer, Component, Environment, Selector, Synthesizer, Trainer
from rods.plugin_manager import Plugins, load_plugins
from rods.pool import Pool
from rods.presets import PRESETS
from rods.synthesis.lm.config import EMBEDDED
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.service import SynthesisConfig
from rods.types import Stage

DEFAULTS = {"selector": "boundary", "buffer": "dual-control", "synthesizer": "skill-aligned"}
PLAIN_TABLES: dict[str, type[BaseModel]] = {
    "run": RunConfig,
    "pool": PoolConfig,
    "evaluation": EvaluationConfig,
    "curriculum": CurriculumConfig,
    "synthesis": SynthesisConfig,
}


@dataclass(slots=True)
class Assembly:
    """Loaded plugins and the settings for their parts; builds each part on demand."""

    plugins: Plugins
    settings: Settings
    run: RunConfig

    def component(self, kind: str) -> type[Any]:
        """The class that the settings choose for a table."""
        name = self.settings.component(kind)
        return self.plugins.choose(kind, name, DEFAULTS.get(kind))

    def config(self, kind: str) -> Any:
        """The validated configuration of the chosen component."""
        return self.settings.build(kind, self.component(kind).Config)

    def environment(self) -> Environment:
        """The world."""
        environment: Environment = self.component("environment")(self.config("environment"))
        return environment

    def trainer(self) -> Trainer:
        """The owner of the policy."""
        trainer: Trainer = self.component("trainer")(self.config("trainer"))
        return trainer

    def synthesizer(self, environment: Environment, program: str = "") -> Synthesizer:
        """The maker of variants for a world, with its language models if any are set.

        ``program`` is a file of tuned prompts to use instead of the configured one.
        """
        config = self.config("synthesizer")
        synthesizer: Synthesizer = self.component("synthesizer")(config, environment)
        lm = self.synthesis.lm
        if lm.used:
            synthesizer.use(self.language_models(), program or lm.program)
        return synthesizer

    def language_models(self) -> LanguageModels:
        """The models of the stages; none is asked yet, and dspy is not loaded."""
        return LanguageModels(self.synthesis.lm)

    def selector(self, pool: Pool) -> Selector:
        """The finder of seeds."""
        config = self.config("selector")
        selector: Selector = self.component("selector")(config, pool, self.run.seed)
        return selector

    def buffer(self, pool: Pool) -> Buffer:
        """What moves the pool across an epoch boundary."""
        config = self.config("buffer")
        buffer: Buffer = self.component("buffer")(config, pool, self.run.seed)
        return buffer

    @property
    def pool(self) -> PoolConfig:
        """Where the tasks are kept."""
        return self.settings.build("pool", PoolConfig)

    @property
    def evaluation(self) -> EvaluationConfig:
        """The held-out set."""
        return self.settings.build("evaluation", EvaluationConfig)

    @property
    def curriculum(self) -> CurriculumConfig:
        """The schedule."""
        return self.settings.build("curriculum", CurriculumConfig)

    @property
    def synthesis(self) -> SynthesisConfig:
        """How variants are made."""
        return self.settings.build("synthesis", SynthesisConfig)

    def set_epochs(self, epochs: int) -> None:
        """Let the only stage of the schedule last so long; a ConfigError if there are several."""
        stages = self.curriculum.stages
        if len(stages) > 1:
            names = ", ".join(f"{stage.name!r} ({stage.epochs})" for stage in stages)
            raise ConfigError(
                f"--epochs sets the length of the only stage, and this run has {len(stages)}: "
                f"{names}. Set the epochs of each in [[curriculum.stages]]."
            )
        stage = {**stages[0].model_dump(mode="json"), "epochs": epochs}
        self.settings.overlay({"curriculum": {"stages": [stage]}}, "--epochs")

    def resolved(self) -> Tables:
        """Every value of a run, defaults written out; as TOML it loads equal.

        All faults of all tables are told at once, one line each.
        """
        tables = {"run": self.run.model_dump(mode="json")}
        faults = []
        for table in TABLES[1:]:
            try:
                tables[table] = self._resolved_table(table)
            except ConfigError as error:
                faults.append(str(error))
        if faults:
            raise ConfigError("\n".join(faults))
        return tables

    def _resolved_table(self, table: str) -> dict[str, Any]:
        if table in COMPONENT_TABLES:
            config = self.config(table).model_dump(mode="json")
            return {"name": self.component(table).name, **config}
        return self.settings.build(table, PLAIN_TABLES[table]).model_dump(mode="json")


def assemble(
    plugins: str | None = None,
    config: Path | None = None,
    overrides: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
) -> Assembly:
    """Load settings and the plugins they name; every fault of the input is a UserError.

    ``plugins`` are names separated by commas; ``flags`` are dotted keys such as ``run.seed``.
    """
    names = None if plugins is None else split_names(plugins)
    settings = load_settings(config, overrides, {"run.plugins": names, **(flags or {})})
    run = settings.build("run", RunConfig)
    if not run.plugins:
        raise ConfigError(
            "No plugin is named; try --plugins office,grpo-trl (`rods plugins` lists them)."
        )
    loaded = load_plugins(run.plugins)
    run = run.model_copy(update={"preset": _apply_presets(loaded, settings, run)})
    parts = Assembly(loaded, settings, run)
    _suit_small_models(parts)
    return parts


def _suit_small_models(parts: Assembly) -> None:
    """The embedded model words one message a call: a whole conversation is too much for it."""
    if "lm" not in parts.settings.values.get("synthesis", {}):
        return
    writers = {model.model for model in parts.synthesis.lm.of(Stage.REWRITE)}
    if writers == {(EMBEDDED,)} and "coherent_rewrite" in _keys(parts, "synthesizer"):
        tables = {"synthesizer": {"coherent_rewrite": False}}
        parts.settings.underlay(tables, f"suits {EMBEDDED}")


def _keys(parts: Assembly, kind: str) -> set[str]:
    return set(parts.component(kind).Config.model_fields)


# ------------------------------------------------------------------------------- presets
def _apply_presets(plugins: Plugins, settings: Settings, run: RunConfig) -> tuple[str, ...]:
    """Fill the presets in under what is set; the names of those that were applied."""
    asked = "preset" in settings.values.get("run", {})
    chosen = dict(_chosen(plugins, settings))
    offers = [*(part.presets for part in chosen.values()), PRESETS]
    known = {"none", *(name for offer in offers for name in offer)}
    names = run.preset if asked or settings.file else tuple({"demo"} & known)
    names = tuple(name for name in names if name != "none")
    for name in reversed(names):  # the later preset wins, so it goes in first
        if name not in known:
            raise ConfigError(
                f"No preset {name!r} ({settings.sources['run', 'preset']}). "
                f"{did_you_mean(name, known)}"
            )
        for offer in offers:
            tables = _matching(offer.get(name, {}), chosen)
            settings.underlay(tables, f"preset {name!r}")
    return names


def _chosen(plugins: Plugins, settings: Settings) -> Iterator[tuple[str, type[Component]]]:
    """The component of each table as far as it is decided; the environment is first, and wins."""
    for kind in COMPONENT_TABLES:
        known = plugins.components[kind]
        name = settings.component(kind) or DEFAULTS.get(kind)
        if name in known or (name is None and len(known) == 1):
            yield kind, plugins.choose(kind, name)


def _matching(
    tables: Mapping[str, Mapping[str, Any]], chosen: Mapping[str, type[Component]]
) -> Tables:
    """The tables of a preset that are for everyone, or for the component that was chosen."""
    matching: Tables = {}
    for key, values in tables.items():
        table, _, component = key.partition(":")
        if not component or (table in chosen and chosen[table].name == component):
            matching.setdefault(table, {}).update(values)
    return matching
