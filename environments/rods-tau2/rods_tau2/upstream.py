"""tau2's own modules, loaded from the asset, without what they do beside their work.

As shipped they read a ``.env`` file of the current folder and log every call; here nothing is read
and nothing is logged. A bill's id, which they draw from the system's randomness, is the session's
within ``rods.determinism``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import update_wrapper
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from rods.upstream import Patch, StandIn, UpstreamModules
from rods_tau2.arithmetic import calculate
from rods_tau2.asset import Asset

_loading = threading.Lock()
_loaded: list[UpstreamModules] = []  # at most one: whichever asset it is, its sources are pinned


def load_upstream(asset: Asset) -> UpstreamModules:
    """The modules, loaded once a process, each when it is first needed."""
    with _loading:
        if not _loaded:
            _loaded.append(
                UpstreamModules(
                    asset,
                    "rods_tau2.upstream_modules",
                    ["tau2"],
                    stand_ins=_stand_ins(),
                    patches={
                        "tau2.domains.airline.tools": _calculate("AirlineTools"),
                        "tau2.domains.retail.tools": _calculate("RetailTools"),
                        "tau2.environment.toolkit": _calculate("GenericToolKit"),
                    },
                )
            )
    return _loaded[0]


def _stand_ins() -> Mapping[str, ModuleType]:
    silent = SimpleNamespace(
        **dict.fromkeys(("debug", "info", "warning", "error", "exception"), _nothing)
    )
    return {
        "loguru": _module("loguru", logger=silent),
        "dotenv": _module("dotenv", load_dotenv=lambda: True),  # reads nothing
        "deepdiff": _module("deepdiff", DeepDiff=_unused),
        "toml": _module("toml", load=_unused, dump=_unused),  # data come from the asset
        "yaml": _module("yaml", load=_unused, dump=_unused),
        "pandas": StandIn("pandas"),  # for reports that are never made
        "tau2.utils.llm_utils": StandIn("tau2.utils.llm_utils"),  # rods asks the models
    }


def _module(name: str, **names: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(names)
    return module


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Log nothing."""


def _unused(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("rods-tau2 reads its data from the asset; this function is not for it.")


def _calculate(owner: str) -> Patch:
    """The class's ``calculate``, with its documents, computes without ``eval``."""

    def patch(module: ModuleType) -> None:
        original = vars(getattr(module, owner))["calculate"]

        def bounded(self: Any, expression: str) -> str:
            return calculate(expression)

        update_wrapper(bounded, original)
        del bounded.__wrapped__  # type: ignore[attr-defined]
        getattr(module, owner).calculate = bounded

    return patch
