"""One rollout's world: the databases, what upstream's tools do to them, and what has changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from rods.bounds import beyond_bounds
from rods.determinism import Determinism
from rods.errors import DataError
from rods.types import JsonObject, JsonValue
from rods_tau2.domains import Domain
from rods_tau2.tables import Table, adapter, dump

Side = Literal["assistant", "user"]
ERROR_PREFIX = "Error: "
DRAWN = "tau2"  # one seed for all: the n-th id of a reference is the n-th of a rollout
_KEYS = {
    "plans": "plan_id",
    "customers": "customer_id",
    "lines": "line_id",
    "bills": "bill_id",
    "devices": "device_id",
}

Changes = dict[tuple[str, str], JsonValue]  # (table, id) -> record as JSON, None: removed


class World:
    """A domain in the initial state of a task."""

    def __init__(self, domain: Domain, initial_state: Mapping[str, Any]) -> None:
        self.domain = domain
        self._fixed = Determinism(DRAWN)
        if domain.layout.tables:
            self._environment = domain.environment(_tables(domain, initial_state["records"]))
        else:
            self._environment = domain.environment(
                domain.database.model_copy(deep=True), domain.user_database.model_copy(deep=True)
            )
        for step in initial_state["setup"]:
            self._set_up(step)

    def _set_up(self, step: Mapping[str, Any]) -> None:
        """A function of the environment, or a call that was made before the task begins."""
        if "call" in step:
            self.call(step["call"], step["arguments"])
            return
        with self._fixed:
            kit = self.kit(step["side"])
            getattr(kit, step["function"])(**step["arguments"])
            self._environment.sync_tools()

    def kit(self, side: str) -> Any:
        """The tools of the assistant or of the user."""
        return self._environment.user_tools if side == "user" else self._environment.tools

    # ------------------------------------------------------------------ acting
    def call(
        self, name: str, arguments: Mapping[str, Any], side: Side | None = None
    ) -> tuple[str, bool]:
        """The result as upstream words it, and whether it is an error. Nothing is raised.

        ``side`` None: the tool of that name, whosever it is.
        """
        if (fault := beyond_bounds(arguments)) is not None:
            return f"{ERROR_PREFIX}{fault}", True
        try:
            with self._fixed:
                value = self._tool(side)(name, **arguments)
                self._environment.sync_tools()
            return render(value), False
        except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
            return f"{ERROR_PREFIX}{error}", True

    def _tool(self, side: Side | None) -> Any:
        if side is None:
            return self._environment.make_tool_call
        return self._environment.use_user_tool if side == "user" else self._environment.use_tool

    def has_tool(self, name: str, side: Side) -> bool:
        """The side has a tool of that name."""
        kit = self.kit(side)
        return kit is not None and bool(kit.has_tool(name))

    def holds(self, assertion: Mapping[str, Any]) -> bool:
        """The assertion's function gives the value that it should."""
        try:
            function = getattr(self.kit(str(assertion["env_type"])), str(assertion["func_name"]))
            value = function(**assertion["arguments"])
            self._environment.sync_tools()
        except Exception:  # noqa: BLE001 - what the world has no answer to does not hold
            return False
        return bool(value == assertion.get("assert_value", True))

    # ------------------------------------------------------------------ what there is
    def changes(self) -> Changes:
        """What differs from the databases that the world was opened with, before its set-up."""
        if self.domain.layout.tables:
            database = self._environment.tools.db
            return {
                (table, key): record
                for table in self.domain.layout.tables
                for key, record in getattr(database, table).changed().items()
            }
        environment = self._environment
        now = copied_records(environment.tools.db, environment.user_tools.db)
        first = first_records(self.domain)
        changed = {key: record for key, record in now.items() if first.get(key) != record}
        return changed | dict.fromkeys(key for key in first if key not in now)

    def state(self) -> JsonObject:
        """The records of the initial state, and all others that have changed, by table."""
        state: dict[str, dict[str, JsonValue]] = {}
        for table in self.domain.layout.tables:
            rows = getattr(self._environment.tools.db, table)
            state[table] = {key: dump(dict.get(rows, key)) for key in rows.shown}
        for (table, key), record in self.changes().items():
            state.setdefault(table, {})[key] = record
        return {table: dict(sorted(rows.items())) for table, rows in state.items() if rows}

    def used(self) -> Mapping[str, Iterable[str]]:
        """Table -> ids that were asked for, whether they changed or not."""
        database = self._environment.tools.db
        return {table: tuple(getattr(database, table).used) for table in self.domain.layout.tables}

    # ------------------------------------------------------------------ going back
    def snapshot(self) -> Any:
        """A copy of all that can change."""
        database, user = self._environment.tools.db, self._environment.user_tools
        fixed = self._fixed.snapshot()
        if self.domain.layout.tables:
            names = self.domain.layout.tables
            return {name: getattr(database, name).copied() for name in names}, fixed
        parts = {"agent": database.model_copy(deep=True), "user": user.db.model_copy(deep=True)}
        return parts, fixed

    def restore(self, snapshot: Any) -> None:
        """Back to the snapshot, which can be used again."""
        parts, fixed = snapshot
        self._fixed.restore(fixed)
        if self.domain.layout.tables:
            for name, rows in parts.items():
                self._environment.tools.db.__dict__[name] = rows.copied()
        else:
            self._environment.tools.db = parts["agent"].model_copy(deep=True)
            self._environment.user_tools.db = parts["user"].model_copy(deep=True)


def copied_records(database: Any, user: Any) -> Changes:
    """Every record of a database that is copied as a whole, and the parts of the user's."""
    rows: Changes = {
        (table, getattr(record, key)): dump(record)
        for table, key in _KEYS.items()
        for record in getattr(database, table)
    }
    return rows | {("user", name): dump(getattr(user, name)) for name in type(user).model_fields}


@cache
def first_records(domain: Domain) -> Changes:
    """The records of the database as it is shipped."""
    return copied_records(domain.database, domain.user_database)


def _tables(domain: Domain, records: Mapping[str, Any]) -> Any:
    """The shared database with the records of a task laid over it."""
    base, shipped = domain.database, domain.shipped
    unknown = [name for name in records if name not in domain.layout.tables]
    if unknown:
        raise DataError(f"The domain {domain.name} has no table {unknown[0]!r}.")
    tables = {}
    for name in domain.layout.tables:
        rows = records.get(name, {})
        own = {key: row for key, row in rows.items() if shipped(name, key) != row}
        try:
            overlay = adapter(type(base), name).validate_python(own) if own else {}
        except ValidationError as error:
            raise DataError(f"A record of the table {name} is not valid: {error}.") from error
        tables[name] = Table(getattr(base, name), overlay)
        tables[name].shown = tuple(rows)
    return type(base).model_construct(**tables)


def render(value: Any) -> str:
    """The text of a result, exactly as upstream writes it."""
    return value if isinstance(value, str) else json.dumps(_plain(value), default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(warnings=False)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    raise ValueError(f"Unsupported type: {type(value)}")
