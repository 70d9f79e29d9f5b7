"""Plugins by name: discovery reads metadata, loading imports what was named and nothing else.

Whatever is wrong with a plugin is one PluginError that names the plugin and its distribution.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any, TypeVar

import pluggy
from packaging.requirements import InvalidRequirement, Requirement

from rods import hookspecs
from rods.errors import PluginError, did_you_mean, reason
from rods.interfaces import (
    Buffer,
    Component,
    ComponentConfig,
    Environment,
    Selector,
    Synthesizer,
    Trainer,
)

GROUP = "rods"
BUILTIN = "builtin"
KINDS: dict[str, type[Component]] = {
    "environment": Environment,
    "trainer": Trainer,
    "selector": Selector,
    "buffer": Buffer,
    "synthesizer": Synthesizer,
}
C = TypeVar("C", bound=Component)


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """An installed plugin, known from metadata alone."""

    name: str
    point: EntryPoint
    distribution: str
    version: str

    @property
    def label(self) -> str:
        """How errors name it."""
        return f"Plugin {self.name!r} ({self.distribution} {self.version})"


@dataclass(frozen=True, slots=True)
class Registered:
    """A component class and the plugin that brought it."""

    component: type[Any]
    plugin: PluginEntry


@dataclass(slots=True)
class Plugins:
    """What was loaded: the hooks, and the components by kind and name."""

    manager: pluggy.PluginManager
    entries: tuple[PluginEntry, ...] = ()
    components: dict[str, dict[str, Registered]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )

    @property
    def hook(self) -> Any:
        """Calls a hook of every loaded plugin and observer."""
        return self.manager.hook

    def observe(self, observer: object) -> None:
        """Add an object whose ``@rods.hookimpl`` methods follow the run."""
        self.manager.register(observer)

    def choose(self, kind: str, name: str | None, default: str | None = None) -> type[Any]:
        """The component called ``name``; else the default; else the only one that is loaded."""
        known = self.components[kind]
        name = name or default or self._only(kind)
        if name not in known:
            hint = did_you_mean(name, known)
            raise PluginError(f"No {kind} {name!r} is loaded. {hint} Plugins: {self._names()}.")
        return known[name].component

    def _only(self, kind: str) -> str:
        names = sorted(self.components[kind])
        if len(names) == 1:
            return names[0]
        if not names:
            raise PluginError(
                f"No {kind} is loaded; name a plugin that brings one in --plugins. "
                f"Loaded: {self._names()}."
            )
        raise PluginError(
            f"Several {kind}s are loaded: {', '.join(names)}; "
            f"choose one with -o {kind}.name={names[0]}."
        )

    def _names(self) -> str:
        return ", ".join(entry.name for entry in self.entries)


def installed() -> dict[str, list[PluginEntry]]:
    """Every installed plugin by name, without importing any; two of one name are kept apart."""
    found: dict[str, list[PluginEntry]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(_entry(point))
    return dict(sorted(found.items()))


def load_plugins(names: Sequence[str]) -> Plugins:
    """Import the built-in parts and the named plugins, and register what they bring."""
    known = installed()
    entries = tuple(_find(name, known) for name in dict.fromkeys([BUILTIN, *names]))
    manager = pluggy.PluginManager("rods")
    manager.add_hookspecs(hookspecs)
    plugins = Plugins(manager, entries)
    for entry in entries:
        _check_versions(entry)
        _register(plugins, entry)
    return plugins


# ------------------------------------------------------------------------------- finding
def _entry(point: EntryPoint) -> PluginEntry:
    dist = point.dist
    return PluginEntry(
        point.name, point, dist.name if dist else "unknown", dist.version if dist else "?"
    )


def _find(name: str, known: Mapping[str, list[PluginEntry]]) -> PluginEntry:
    found = known.get(name, [])
    if not found:
        names = [n for n in known if n != BUILTIN]
        raise PluginError(f"No plugin {name!r} is installed. {_instead(name, names)}")
    if len(found) > 1:
        owners = " and ".join(f"{e.distribution} {e.version}" for e in found)
        raise PluginError(f"Plugin {name!r} is in two distributions, {owners}; uninstall one.")
    return found[0]


def _instead(name: str, known: Sequence[str]) -> str:
    """The nearest one, or how one of one's own comes here."""
    if (Path(name) / "pyproject.toml").is_file():
        return f"`pip install -e {name}` installs what is in that folder, under its own name."
    hint = did_you_mean(name, known)
    if hint.startswith("Did"):
        return hint
    return f"{hint} One of your own comes with `pip install -e FOLDER`, anew if its name changed."


def _check_versions(entry: PluginEntry) -> None:
    """A plugin made for another rods says so before it breaks somewhere else."""
    dist = entry.point.dist
    for text in _requires(dist):
        try:
            need = Requirement(text)
            have = version(need.name)
        except (InvalidRequirement, PackageNotFoundError):
            continue
        if need.name == "rods" and not need.specifier.contains(have, prereleases=True):
            raise PluginError(f"{entry.label} needs rods{need.specifier}, this is rods {have}.")


def _requires(dist: Distribution | None) -> list[str]:
    return (dist.requires or []) if dist else []


# ------------------------------------------------------------------------------- loading
def _register(plugins: Plugins, entry: PluginEntry) -> None:
    try:
        module = entry.point.load()
    except (Exception, SystemExit) as error:  # a script that was named by mistake exits
        raise PluginError(f"{entry.label} cannot be imported: {reason(error)}") from error
    if getattr(module, "__file__", "") is None:  # a namespace package
        raise PluginError(
            f"{entry.label} cannot be imported from here: the folder {next(iter(module.__path__))} "
            f"is found in place of its module {entry.point.value!r}; run from another folder."
        )
    try:
        plugins.manager.register(module, entry.name)
        plugins.manager.check_pending()
    except (pluggy.PluginValidationError, ValueError) as error:
        raise PluginError(f"{entry.label} has a wrong hook: {_hook_fault(error)}") from error
    if not plugins.manager.get_hookcallers(module):
        raise PluginError(
            f"{entry.label} has no hook: write @rods.hookimpl above rods_register_environments or "
            "whichever it defines."
        )
    for kind in KINDS:
        for component in _components(plugins, entry, kind):
            _add(plugins, entry, kind, component)


def _hook_fault(error: Exception) -> str:
    """Pluggy's complaint in one line, with the nearest hook for an unknown one."""
    text = " ".join(str(error).split())
    if text.startswith("unknown hook"):
        name = text.split("'")[1]
        hooks = [hook for hook in vars(hookspecs) if hook.startswith("rods_")]
        return f"{name} is unknown. {did_you_mean(name, hooks)}"
    return text


def _components(plugins: Plugins, entry: PluginEntry, kind: str) -> Iterable[Any]:
    """What the plugin's own registering hook returns."""
    hook = f"rods_register_{kind}s"
    others = [p for p in plugins.manager.get_plugins() if p is not _module(plugins, entry)]
    try:
        results = plugins.manager.subset_hook_caller(hook, others)()
        if any(inspect.isclass(result) for result in results):
            raise TypeError("it returns a class; return a list with the class in it")
        return [component for result in results for component in result]
    except (Exception, SystemExit) as error:
        raise PluginError(f"{entry.label} failed in {hook}: {reason(error)}") from error


def _module(plugins: Plugins, entry: PluginEntry) -> Any:
    """The module that an entry was registered with."""
    return plugins.manager.get_plugin(entry.name)


def _add(plugins: Plugins, entry: PluginEntry, kind: str, component: Any) -> None:
    fault = _fault(kind, component)
    if fault:
        raise PluginError(f"{entry.label} registers a broken {kind}: {fault}")
    known = plugins.components[kind]
    if (other := known.get(component.name)) is not None:
        raise PluginError(
            f"The {kind} {component.name!r} is registered twice, by {other.plugin.label} "
            f"and by {entry.label}; load only one of them."
        )
    known[component.name] = Registered(component, entry)


def _fault(kind: str, component: Any) -> str:
    """What a class lacks, empty when it is complete."""
    base = KINDS[kind]
    if not (inspect.isclass(component) and issubclass(component, base)):
        return f"{component!r} is not a subclass of rods.{base.__name__}."
    label = f"{component.__module__}.{component.__qualname__}"
    if missing := sorted(getattr(component, "__abstractmethods__", ())):
        return f"{label} lacks the method{'s' * (len(missing) > 1)} {', '.join(missing)}."
    name = getattr(component, "name", None)
    if not (isinstance(name, str) and name):
        return f'{label} has no name; write name = "..." in the class.'
    return _config_fault(label, component.Config)


def _config_fault(label: str, config: Any) -> str:
    if not (inspect.isclass(config) and issubclass(config, ComponentConfig)):
        return f"{label}.Config is not a subclass of rods.interfaces.ComponentConfig."
    if "name" in config.model_fields:
        return f"{label}.Config has a field 'name', which chooses the component itself; rename it."
    try:
        config.model_json_schema()
    except Exception as error:  # noqa: BLE001 - pydantic has several classes for a broken model
        return f"{label}.Config cannot be used: {' '.join(str(error).split())}"
    return ""
