"""Tables of a shared database, of which a world copies the records that it uses."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from rods.types import JsonValue


class Table(dict[str, Any]):
    """Id -> record. The records of ``base`` are shared until they are asked for by their id.

    ``values()`` and ``items()`` give shared records: upstream's tools only read those.
    """

    def __init__(self, base: Mapping[str, Any], overlay: Mapping[str, Any]) -> None:
        """``overlay``: records that take the place of shared ones, and never change either."""
        super().__init__(base)
        super().update(overlay)
        self.base, self.overlay = base, overlay
        self.used: dict[str, None] = {}  # ids whose records may have changed, in order
        self.shown: tuple[str, ...] = ()  # ids of the records that a task names

    def __getitem__(self, key: str) -> Any:
        """The world's own copy of the record."""
        record = super().__getitem__(key)
        if key not in self.used:
            record = record.model_copy(deep=True)
            super().__setitem__(key, record)
            self.used[key] = None
        return record

    def get(self, key: str, default: Any = None) -> Any:
        """The world's own copy of the record, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - it would call itself

    def __setitem__(self, key: str, record: Any) -> None:
        """Put a record into this world alone."""
        super().__setitem__(key, record)
        self.used[key] = None

    def __delitem__(self, key: str) -> None:
        """Remove a record from this world alone."""
        super().__delitem__(key)
        self.used[key] = None

    def pop(self, *args: Any) -> Any:
        """Upstream removes no records but by ``del``; what is not followed is refused."""
        raise NotImplementedError("Table.pop")

    setdefault = popitem = update = clear = __ior__ = pop  # type: ignore[assignment]

    def changed(self) -> dict[str, JsonValue]:
        """Id -> the record as JSON, for each that differs from what the world opened with.

        None stands for a record that was removed.
        """
        now = {key: _dumped(dict.get(self, key)) for key in self.used}
        return {key: record for key, record in now.items() if record != self._first(key)}

    def _first(self, key: str) -> JsonValue:
        return _dumped(self.overlay[key] if key in self.overlay else self.base.get(key))

    def copied(self) -> Table:
        """The same table with copies of the records that were used."""
        other = Table.__new__(Table)
        dict.update(other, self)
        other.base, other.overlay = self.base, self.overlay
        other.used, other.shown = dict(self.used), self.shown
        for key in self.used:
            if key in self:
                dict.__setitem__(other, key, copy.deepcopy(dict.__getitem__(self, key)))
        return other


def _dumped(record: Any) -> JsonValue:
    return None if record is None else dump(record)


def dump(record: Any) -> Any:
    """A record as JSON. Upstream's tools put unchecked arguments into records: no warnings."""
    if isinstance(record, BaseModel):
        return record.model_dump(mode="json", warnings=False)
    return record


_ADAPTERS: dict[tuple[type[BaseModel], str], TypeAdapter[dict[str, Any]]] = {}


def adapter(model: type[BaseModel], table: str) -> TypeAdapter[dict[str, Any]]:
    """Reads the records of a table."""
    key = (model, table)
    if key not in _ADAPTERS:
        _ADAPTERS[key] = TypeAdapter(model.__annotations__[table])
    return _ADAPTERS[key]
