"""One environment with all four domains for all tests, and upstream's own evaluators."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from rods_tau2.asset import Asset, open_asset
from rods_tau2.domains import DOMAIN_NAMES, Domain, DomainName
from rods_tau2.environment import Tau2Environment
from rods_tau2.tables import dump
from rods_tau2.upstream import load_upstream
from rods_tau2.world import DRAWN

from rods.determinism import Determinism
from rods.types import Task, ToolCall


@pytest.fixture(scope="session")
def asset() -> Asset:
    """The pinned release, from the cache."""
    return open_asset()


@pytest.fixture(scope="session")
def environment() -> Tau2Environment:
    """All 287 tasks."""
    config = Tau2Environment.Config(domains=DOMAIN_NAMES, exclude_flagged=False)
    return Tau2Environment(config)


@pytest.fixture(scope="session")
def tasks(environment: Tau2Environment) -> dict[str, Task]:
    """Task by id."""
    return {t.id: t for t in (*environment.tasks("train"), *environment.tasks("eval"))}


@pytest.fixture(scope="session")
def domains(asset: Asset) -> dict[DomainName, Domain]:
    """The four domains."""
    return {name: Domain(name, asset) for name in DOMAIN_NAMES}


@pytest.fixture(scope="session")
def official(asset: Asset) -> Callable[[Domain, Mapping[str, Any]], Official]:
    """Upstream's evaluators for an entry of a domain."""
    return lambda domain, entry: Official(domain, asset, entry)


class Official:
    """The official reward of one task of upstream, by its entry in ``tasks.json``.

    The databases are cut down to what the task uses: upstream reads, copies and hashes the whole
    one for every verdict, two seconds for a task of the airline.
    """

    def __init__(self, domain: Domain, asset: Asset, entry: Mapping[str, Any]) -> None:
        self._domain = domain
        self._load = load_upstream(asset).load
        self.task = self._load("tau2.data_model.tasks").Task.model_validate(entry)
        self._user_side = set(self._kits()[1])

    def _kits(self) -> tuple[list[str], list[str]]:
        environment = self._domain.environment(self._domain.database, self._domain.user_database)
        user = environment.user_tools
        return list(environment.tools.tools), list(user.tools) if user else []

    # ------------------------------------------------------------------ databases
    def _small(self, calls: Sequence[ToolCall]) -> Any:
        """The database with the records that these calls and the gold actions name."""
        database = self._domain.database
        if not self._domain.layout.tables:
            return database.model_copy(deep=True)
        named = json.dumps([c.arguments for c in calls]) + self.task.model_dump_json()
        rows: dict[str, set[str]] = {}
        for table in self._domain.layout.tables:
            rows[table] = {key for key in getattr(database, table) if f'"{key}"' in named}
        self._add_owners(database, rows, named)
        parts = {
            table: {k: dump(record) for k, record in getattr(database, table).items() if k in keys}
            for table, keys in rows.items()
        }
        return type(database).model_validate(parts)

    def _add_owners(self, database: Any, rows: dict[str, set[str]], named: str) -> None:
        if self._domain.name == "mock":
            rows["users"] = set(database.users)
            rows["tasks"] = set(database.tasks)
            return
        owned = "orders" if self._domain.name == "retail" else "reservations"
        rows["users"] |= {getattr(database, owned)[key].user_id for key in rows[owned]}
        for key, user in database.users.items():
            if f'"{user.name.first_name}"' in named and f'"{user.name.last_name}"' in named:
                rows["users"].add(key)
            if f'"{user.email}"' in named:
                rows["users"].add(key)
        for key in rows["users"]:
            rows[owned] |= set(getattr(database.users[key], owned))
        if self._domain.name == "retail":
            rows["products"] |= {
                item.product_id for key in rows["orders"] for item in database.orders[key].items
            }

    # ------------------------------------------------------------------ the verdict
    def reward(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> float:
        """The product of the parts that upstream's reward basis names."""
        with Determinism(DRAWN):
            return self._reward(calls, texts)

    @property
    def policy(self) -> str:
        """The domain's."""
        return self._domain.policy

    def construct(self, calls: Sequence[ToolCall]) -> Any:
        """Upstream's environment, where the user has tools of its own."""
        user = self._domain.user_database
        environment = self._domain.environment(
            self._small(calls), user.model_copy(deep=True) if user else None
        )
        environment.solo_mode = False
        return environment

    def _reward(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> float:
        def construct(solo_mode: bool = False) -> Any:
            return self.construct(calls)

        return self._judged(construct, self._messages(construct, calls, texts))

    def judged(self, messages: Sequence[Any]) -> float:
        """The reward of a conversation as upstream records it."""
        calls = [
            ToolCall(name=call.name, arguments=call.arguments)
            for message in messages
            for call in getattr(message, "tool_calls", None) or ()
        ]
        with Determinism(DRAWN):
            return self._judged(lambda solo_mode=False: self.construct(calls), list(messages))

    def _judged(self, construct: Any, messages: list[Any]) -> float:
        evaluate = self._load("tau2.evaluator.evaluator_env").EnvironmentEvaluator
        try:
            parts = [evaluate.calculate_reward(construct, self.task, messages).reward]
        except ValueError:  # an assertion about a record that is not there
            parts = [0.0]
        basis = {str(b.value) for b in self.task.evaluation_criteria.reward_basis}
        if "ACTION" in basis:
            judge = self._load("tau2.evaluator.evaluator_action").ActionEvaluator
            parts.append(judge.calculate_reward(self.task, messages).reward)
        if "COMMUNICATE" in basis:
            judge = self._load("tau2.evaluator.evaluator_communicate").CommunicateEvaluator
            parts.append(judge.calculate_reward(self.task, messages).reward)
        reward = 1.0
        for part in parts:
            reward *= part
        return reward

    def _messages(
        self, construct: Any, calls: Sequence[ToolCall], texts: Sequence[str]
    ) -> list[Any]:
        """The conversation as upstream records it, with the answers of a world of its own."""
        records = self._load("tau2.data_model.message")
        initial = self.task.initial_state
        history = list(initial.message_history or []) if initial else []
        world = construct()
        world.set_state(
            initial.initialization_data if initial else None,
            initial.initialization_actions if initial else None,
            history,
        )
        messages: list[Any] = history
        for number, call in enumerate(calls):
            side = "user" if call.name in self._user_side else "assistant"
            made = records.ToolCall(
                id=str(number), name=call.name, arguments=call.arguments, requestor=side
            )
            kind = records.UserMessage if side == "user" else records.AssistantMessage
            messages += [kind(role=side, tool_calls=[made]), world.get_response(made)]
        said = [records.AssistantMessage(role="assistant", content=text) for text in texts]
        return messages + said
