"""What an evaluation plays: suites, which are worlds one after the other, and named splits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from rods.errors import ConfigError, PluginError, did_you_mean
from rods.interfaces import Environment
from rods.plugin_manager import BUILTIN, Plugins, installed, load_plugins
from rods.types import Split

_ONE = "environment:"  # in front of a world's name: a setting of that world alone


@dataclass(frozen=True, slots=True)
class Row:
    """A world of a suite, set as the suite wants it: one row of the table."""

    suite: str
    label: str
    plugin: str
    environment: str
    settings: Mapping[str, Any]

    @property
    def overrides(self) -> list[str]:
        """The settings as ``-o`` takes them."""
        named = {"name": self.environment, **self.settings}
        return [f"environment.{key}={json.dumps(value)}" for key, value in named.items()]


def overrides_of(row: Row, overrides: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Every ``-o`` for this row: its own, those for all, and ``environment:NAME.key=value``.

    A ConfigError for a NAME that no row has: nobody would get that setting.
    """
    chosen = list(row.overrides)
    for text in overrides:
        name = text.partition(".")[0]
        if not name.startswith(_ONE):
            chosen.append(text)
            continue
        known = {other.environment for other in rows}
        world = name.removeprefix(_ONE)
        if world not in known:
            raise ConfigError(f"-o {text}: no row plays {world!r}. {did_you_mean(world, known)}")
        if world == row.environment:
            chosen.append("environment" + text.removeprefix(name))
    return chosen


def split_overrides(world: type[Environment], split: str, overrides: Sequence[str]) -> list[str]:
    """Every ``-o`` for a split of this world: one that it names is its eval split, set otherwise.

    A ConfigError where it names none of this name, or an ``-o`` sets what the split sets.
    """
    if split in get_args(Split):
        return list(overrides)
    if split not in world.eval_splits:
        known = [*get_args(Split), *world.eval_splits]
        raise ConfigError(f"{world.name} has no split {split!r}. {did_you_mean(split, known)}")
    named = {f"environment.{key}": value for key, value in world.eval_splits[split].items()}
    for text in overrides:
        if (key := text.partition("=")[0]) in named:
            raise ConfigError(
                f"-o {text}: --split {split} sets {key} itself; leave one of them out."
            )
    return [*overrides, *(f"{key}={json.dumps(value)}" for key, value in named.items())]


def suite_rows(suite: str) -> tuple[list[Row], list[str]]:
    """The rows of a suite over all installed plugins, and why a plugin could not be asked.

    A ConfigError names the suites there are.
    """
    faults: list[str] = []
    found = list(_all_rows(faults))
    rows = [row for row in found if row.suite == suite]
    if not rows:
        hint = did_you_mean(suite, {row.suite for row in found})
        raise ConfigError(f"No installed world names a suite {suite!r}. {hint}")
    return rows, faults


def _all_rows(faults: list[str]) -> Iterator[Row]:
    for name in installed():
        if name == BUILTIN:
            continue
        try:
            plugins = load_plugins([name])
        except PluginError as error:
            faults.append(str(error))
        else:
            yield from _rows_of(name, plugins)


def _rows_of(plugin: str, plugins: Plugins) -> Iterator[Row]:
    for name, registered in plugins.components["environment"].items():
        if registered.plugin.name != plugin:
            continue
        for suite, labels in registered.component.suites.items():
            for label, settings in labels.items():
                yield Row(suite, label, plugin, name, settings)
