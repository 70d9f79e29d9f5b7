"""The four domains: their databases, read once and shared, their tools and their policies."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from rods.types import Effect, JsonObject, JsonValue, ToolSpec
from rods_tau2.asset import DOMAINS, Asset
from rods_tau2.tables import dump
from rods_tau2.upstream import load_upstream

DomainName = Literal["airline", "retail", "telecom", "mock"]
DOMAIN_NAMES: tuple[DomainName, ...] = get_args(DomainName)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where upstream keeps the parts of a domain."""

    database: str
    tools: str
    tables: tuple[str, ...]  # dictionaries of records by id; none: the whole database is copied
    solo: bool = False  # the policy has the user's tools too, and the task is told as a ticket


_LAYOUTS: Mapping[DomainName, Layout] = {
    "airline": Layout("FlightDB", "AirlineTools", ("flights", "users", "reservations")),
    "retail": Layout("RetailDB", "RetailTools", ("products", "users", "orders")),
    "telecom": Layout("TelecomDB", "TelecomTools", (), solo=True),
    "mock": Layout("MockDB", "MockTools", ("tasks", "users")),
}
_EFFECTS: Mapping[str, Effect] = {"read": "read", "write": "write"}


class Domain:
    """One domain of the asset; what it has read never changes."""

    def __init__(self, name: DomainName, asset: Asset, *, dialogue: bool = False) -> None:
        """``dialogue``: a model is the user, who acts alone on what is the user's."""
        self.name: DomainName = name
        self.layout = _LAYOUTS[name]
        self.dialogue = dialogue
        self._asset = asset
        self._shipped: dict[tuple[str, str], JsonValue] = {}
        self._upstream = load_upstream(asset)

    def _module(self, name: str) -> Any:
        return self._upstream.load(f"tau2.domains.{self.name}.{name}")

    def text(self, file: str) -> str:
        """A data file of the domain."""
        return self._asset.text(f"{DOMAINS}/{self.name}/{file}")

    # ------------------------------------------------------------------ the database
    @cached_property
    def database(self) -> Any:
        """The database as upstream ships it: shared by all worlds, so never changed."""
        cls = getattr(self._module("data_model"), self.layout.database)
        if self.layout.solo:
            return cls.model_validate(tomllib.loads(self.text("db.toml")))
        return cls.model_validate(json.loads(self.text("db.json")))

    def shipped(self, table: str, key: str) -> JsonValue:
        """A record of the database as JSON; None: there is none."""
        if (table, key) not in self._shipped:
            record = getattr(self.database, table).get(key)
            self._shipped[table, key] = None if record is None else dump(record)
        return self._shipped[table, key]

    @cached_property
    def user_database(self) -> Any:
        """The user's phone and surroundings; None where users have no tools."""
        if not self.layout.solo:
            return None
        cls = self._module("user_data_model").TelecomUserDB
        return cls.model_validate(tomllib.loads(self.text("user_db.toml")))

    # ------------------------------------------------------------------ upstream's environment
    def environment(self, database: Any, user_database: Any = None) -> Any:
        """Upstream's environment around these databases."""
        tools = getattr(self._module("tools"), self.layout.tools)(database)
        if not self.layout.solo:
            base = self._upstream.load("tau2.environment.environment").Environment
            return base(domain_name=self.name, policy="", tools=tools)
        user_tools = self._module("user_tools").TelecomUserTools(user_database)
        cls = self._module("environment").TelecomEnvironment
        environment = cls(domain_name=self.name, policy="", tools=tools, user_tools=user_tools)
        environment.solo_mode = True
        return environment

    @cached_property
    def policy(self) -> str:
        """The domain's policy, which the agent has to keep to, as upstream puts it together."""
        if not self.layout.solo:
            policy = self.text("policy.md")
            return policy if self.dialogue else policy.strip()
        main = "main_policy.md" if self.dialogue else "main_policy_solo.md"
        parts = {"main": main, "tech_support": "tech_support_manual.md"}
        return "\n".join(
            f"<{name}_policy>\n{self.text(file)}\n</{name}_policy>" for name, file in parts.items()
        )

    @cached_property
    def toolspecs(self) -> Mapping[str, ToolSpec]:
        """Tool name -> what the policy sees of it; in a dialogue only what is the agent's."""
        ours = _toolspecs(self.environment(self.database, self.user_database).tools)
        return ours if self.dialogue else {**ours, **self.user_toolspecs}

    @cached_property
    def user_toolspecs(self) -> Mapping[str, ToolSpec]:
        """Tool name -> what a user sees of it; empty where users have no tools."""
        return _toolspecs(self.environment(self.database, self.user_database).user_tools)

    # ------------------------------------------------------------------ tasks
    def entries(self) -> list[JsonObject]:
        """Upstream's tasks of the split ``base``, in upstream's order."""
        base = set(self.splits["base"])
        entries: list[JsonObject] = json.loads(self.text("tasks.json"))
        return [entry for entry in entries if entry["id"] in base]

    def scenario(self, entry: JsonObject) -> str:
        """What a user is told, as upstream words it."""
        records = self._upstream.load("tau2.data_model.tasks")
        return str(records.UserScenario.model_validate(entry["user_scenario"]))

    @cached_property
    def splits(self) -> Mapping[str, list[str]]:
        """Upstream's splits: name -> ids of tasks."""
        splits: dict[str, list[str]] = json.loads(self.text("split_tasks.json"))
        return splits


def _toolspecs(kit: Any) -> Mapping[str, ToolSpec]:
    tools = {} if kit is None else kit.get_tools()
    return {
        name: _toolspec(tool.openai_schema["function"], str(kit.tool_type(name).value))
        for name, tool in tools.items()
    }


def _toolspec(function: Mapping[str, Any], kind: str) -> ToolSpec:
    return ToolSpec(
        name=function["name"],
        description=function["description"],
        parameters=_untitled(function["parameters"]),
        effect=_EFFECTS.get(kind, "unknown"),
    )


def _untitled(schema: Any) -> Any:
    """The schema without the titles that pydantic makes of names; they only cost tokens."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _untitled(item) for name, item in value.items()}
        if key in ("properties", "$defs")
        else _untitled(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
