"""AgentDojo's suites, loaded from the asset without the clients of model servers.

``agentdojo.agent_pipeline`` imports anthropic, cohere, openai and google-genai; the suites only
name its classes in annotations and in a method that rods never calls.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from rods.determinism import stand_still
from rods.upstream import StandIn, UpstreamModules
from rods_agentdojo.asset import Asset
from rods_agentdojo.data import read_suite_text

VERSION = "v1.2.2"
NOW = datetime.datetime(2024, 5, 15, 12, tzinfo=datetime.UTC)  # after all that has happened

_loading = threading.Lock()
_loaded: list[UpstreamModules] = []  # at most one: whichever asset it is, its sources are pinned


def load_suites(asset: Asset) -> Mapping[str, Any]:
    """Suite name -> upstream's ``TaskSuite``, of the benchmark's version ``VERSION``."""
    suites: Mapping[str, Any] = (
        load_upstream(asset).load("agentdojo.task_suite.load_suites").get_suites(VERSION)
    )
    return suites


def load_upstream(asset: Asset) -> UpstreamModules:
    """The modules, loaded once a process, each when it is first needed."""
    with _loading:
        if not _loaded:
            _loaded.append(_modules(asset))
    return _loaded[0]


def _modules(asset: Asset) -> UpstreamModules:
    def reading(module: ModuleType) -> None:
        @lru_cache
        def read(suite: str, file: str, path: Path | None) -> str:
            return read_suite_text(asset, suite, file)

        module.__dict__["read_suite_file"] = read

    tools = "agentdojo.default_suites.v1.tools"
    return UpstreamModules(
        asset,
        "rods_agentdojo.upstream_modules",
        ["agentdojo"],
        stand_ins={
            "agentdojo.agent_pipeline": StandIn("agentdojo.agent_pipeline"),
            "agentdojo.yaml_loader": StandIn("agentdojo.yaml_loader"),
        },
        patches={
            "agentdojo.task_suite.task_suite": reading,
            f"{tools}.email_client": _freeze,
            f"{tools}.cloud_drive_client": _freeze,
            f"{tools}.calendar_client": _order,
        },
    )


def _order(module: ModuleType) -> None:
    """The participants of an event, once each, in the order given: a set's differs by process."""
    module.__dict__["set"] = dict.fromkeys


def _freeze(module: ModuleType) -> None:
    """Mails and files that an agent makes get one time stamp."""
    stand_still(module, NOW)
