"""Modules of an asset, loaded in a namespace of their own.

An installed copy of the upstream package and this one do not meet, nothing goes on ``sys.path``,
and what upstream imports for purposes that are not ours (loggers, clients of model servers) is
given a stand-in that is named here, by the world that loads it.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from rods.assets import Asset

Patch = Callable[[ModuleType], None]


class StandIn(ModuleType):
    """A module that has any attribute, each of which can be called, subclassed and indexed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": _ignore, "__class_getitem__": classmethod(_itself)})


def _ignore(self: Any, *args: Any, **kwargs: Any) -> None:
    """Take anything."""


def _itself(cls: Any, item: Any) -> Any:
    return cls


class UpstreamModules:
    """The modules of one asset. Only members with a pinned hash can be loaded."""

    def __init__(
        self,
        asset: Asset,
        namespace: str,
        roots: Iterable[str],
        stand_ins: Mapping[str, ModuleType] | None = None,
        patches: Mapping[str, Patch] | None = None,
    ) -> None:
        """``roots``: packages that come from the asset; ``patches``: module -> change after load.

        A stand-in for ``a`` serves ``a.b`` too. Modules are known to ``sys.modules`` as
        ``namespace.name``, because pydantic looks annotations up there.
        """
        self._asset, self._namespace = asset, namespace
        self._roots = frozenset(roots)
        self._stand_ins = dict(stand_ins or {})
        self._patches = dict(patches or {})
        self._modules: dict[str, ModuleType] = {}
        self._lock = threading.RLock()

    def load(self, name: str) -> ModuleType:
        """The module, with everything that it imports."""
        with self._lock:
            if (stand_in := self._stand_in(name)) is not None:
                return stand_in
            if name not in self._modules:
                if "." in name:
                    self.load(name.rpartition(".")[0])
                self._load(name)
            return self._modules[name]

    # ------------------------------------------------------------------ inside
    def _stand_in(self, name: str) -> ModuleType | None:
        while name:
            if name in self._stand_ins:
                return self._stand_ins[name]
            name = name.rpartition(".")[0]
        return None

    def _load(self, name: str) -> None:
        if name in self._modules:  # its package imports it
            return
        path = name.replace(".", "/")
        package = f"{path}/__init__.py" in self._asset.pin.members
        member = f"{path}/__init__.py" if package else f"{path}.py"
        if any(known.startswith(f"{path}/") for known in self._asset.pin.members) and not package:
            self._load_namespace(name)
            return
        if member not in self._asset.pin.members:
            raise ImportError(f"{name} is no module of {self._asset.pin.release} that is used.")
        module = ModuleType(f"{self._namespace}.{name}")
        names = module.__dict__
        names["__builtins__"] = vars(builtins) | {"__import__": self._import}
        names["__file__"] = f"{self._asset.origin}/{member}"
        names["__upstream__"] = name if package else name.rpartition(".")[0]
        self._modules[name] = sys.modules[module.__name__] = module
        try:
            source = self._asset.read(member)
            code = compile(source, names["__file__"], "exec", dont_inherit=True)
            exec(code, names)  # pinned source, never the output of a model
        except BaseException:
            del self._modules[name], sys.modules[module.__name__]
            raise
        self._tell_parent(name)
        if name in self._patches:
            self._patches[name](module)

    def _load_namespace(self, name: str) -> None:
        """A folder of modules without an ``__init__``."""
        module = ModuleType(f"{self._namespace}.{name}")
        self._modules[name] = sys.modules[module.__name__] = module
        self._tell_parent(name)

    def _tell_parent(self, name: str) -> None:
        if "." in name:
            parent, _, last = name.rpartition(".")
            setattr(self._modules[parent], last, self._modules[name])

    def _import(
        self,
        name: str,
        names: Mapping[str, Any] | None = None,
        local: Any = None,
        fromlist: Iterable[str] | None = (),
        level: int = 0,
    ) -> Any:
        """What ``import`` means inside these modules."""
        if level:
            package = str((names or {})["__upstream__"])
            for _ in range(level - 1):
                package = package.rpartition(".")[0]
            name = f"{package}.{name}" if name else package
        stand_in = self._stand_in(name)
        if stand_in is None and name.partition(".")[0] not in self._roots:
            if fromlist:
                return __import__(name, fromlist=tuple(fromlist))
            importlib.import_module(name)
            return sys.modules[name.partition(".")[0]]
        module = self.load(name)
        if not fromlist:
            return self.load(name.partition(".")[0]) if stand_in is None else stand_in
        for child in fromlist:
            if stand_in is None and child != "*" and not hasattr(module, child):
                self.load(f"{name}.{child}")
        return module
