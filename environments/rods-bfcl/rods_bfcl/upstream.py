"""The eight API classes of BFCL, loaded from the asset without touching ``sys.modules``.

An installed copy of ``bfcl_eval`` and this one do not meet: the modules live in namespaces of their
own, in which the one import that leads back into the package is resolved here. What upstream leaks
from one rollout into the next is put right in ``rods_bfcl.overrides``.
"""

from __future__ import annotations

import builtins
import datetime
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

from rods.determinism import stand_still
from rods_bfcl.asset import Asset
from rods_bfcl.copying import copy_plain
from rods_bfcl.effects import HIDDEN_WRITES, READS
from rods_bfcl.lazy_random import LazyRandom
from rods_bfcl.overrides import overrides
from rods_bfcl.rendering import prewrite

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
CLASS_FILES: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
STATELESS_CLASSES = frozenset({"MathAPI"})
# The day of the pinned release. Only ``verify_traveler_information`` reads the date (is the
# traveller of age?), and files keep a time stamp that nothing compares.
NOW = datetime.datetime(2026, 3, 23, 12, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class Method:
    """A function of the world: the class it belongs to and how it is called."""

    name: str
    class_name: str
    function: Callable[..., Any]  # takes the instance first
    parameters: tuple[str, ...]  # in the order of the implementation's signature
    quiet: bool  # leaves every public attribute as it was


@dataclass(frozen=True, slots=True)
class Upstream:
    """The classes and every public method of theirs; names are unique over the classes."""

    classes: Mapping[str, type[Any]]
    methods: Mapping[str, Method]


_loading = threading.Lock()
_loaded: list[Upstream] = []  # at most one


def load_upstream(asset: Asset) -> Upstream:
    """The classes, loaded once a process: whichever asset it is, its sources have pinned hashes."""
    with _loading:
        if not _loaded:
            _loaded.append(_load(asset))
    return _loaded[0]


def _load(asset: Asset) -> Upstream:
    modules = _load_modules(asset)
    classes = {name: getattr(modules[file], name) for name, file in CLASS_FILES.items()}
    replaced = overrides(modules)
    methods = {
        method: _method(method, name, replaced.get(method) or getattr(cls, method), cls)
        for name, cls in classes.items()
        for method in vars(cls)
        if not method.startswith("_") and callable(getattr(cls, method))
    }
    return Upstream(classes=classes, methods=methods)


def _method(name: str, class_name: str, function: Callable[..., Any], cls: type[Any]) -> Method:
    signature = inspect.signature(getattr(cls, name))
    quiet = name in READS or name in HIDDEN_WRITES
    return Method(name, class_name, function, tuple(signature.parameters)[1:], quiet)


def _load_modules(asset: Asset) -> dict[str, ModuleType]:
    modules: dict[str, ModuleType] = {}
    for name in ("long_context", *CLASS_FILES.values()):
        member = f"{PACKAGE.replace('.', '/')}/{name}.py"
        module = ModuleType(f"rods_bfcl.upstream.{name}")
        module.__dict__["__builtins__"] = vars(builtins) | {"__import__": _importer(modules)}
        code = compile(asset.read(member), f"{asset.origin}/{member}", "exec")
        exec(code, module.__dict__)  # pinned source, never the output of a model
        _freeze(module)
        modules[name] = module
    return modules


def _importer(modules: Mapping[str, ModuleType]) -> Callable[..., Any]:
    def resolve(name: str, *args: Any, **kwargs: Any) -> Any:
        prefix, _, last = name.rpartition(".")
        return modules[last] if prefix == PACKAGE else __import__(name, *args, **kwargs)

    return resolve


def _freeze(module: ModuleType) -> None:
    """Give the module a frozen clock, lazily seeded generators and a quick copy of plain data."""
    names = module.__dict__
    if "Directory" in names:  # the one default that is no plain data: an empty root
        names["deepcopy"] = lambda state: {n: names["Directory"](r.name) for n, r in state.items()}
    elif "deepcopy" in names:
        names["deepcopy"] = copy_plain
    for constant in ("MA_5_EXTENSION", "MA_20_EXTENSION"):  # a thousand numbers each
        if constant in names:
            prewrite(names[constant])
    if inspect.ismodule(names.get("random")):
        names["random"] = SimpleNamespace(Random=LazyRandom)
    stand_still(module, NOW)
