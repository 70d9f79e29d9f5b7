"""A world that grows with the slots of a task: every slot brings what its skill needs."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from rods_office.entities import COUNTS, DAYS, IDS, MONEY, PHONES
from rods_office.state import Value, empty

Slot = dict[str, Value]
T = TypeVar("T", str, int)

SPARE_IDS = 4  # of each kind that a tool can create
PATIENCE = 500  # draws before a pool counts as used up


class Crowded(Exception):  # noqa: N818 - the caller draws another world
    """A pool has no value left that the world does not hold."""


class World:
    """Draws distinct values, so that every value of a task has one source and one name."""

    def __init__(
        self, rng: random.Random, names: Sequence[str], words: int = 1,
        avoid: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.rng, self.names, self.words = rng, names, words
        self.state = empty()
        self._used = set(avoid)
        for prefix in "eo":
            for _ in range(SPARE_IDS):
                self.state["fresh"].append({"id": self._id(prefix)})

    def slot(self, name: str) -> Slot:
        """Make what the slot stands for; its ``value`` is what the user says."""
        make: Callable[[], Slot] = getattr(self, "_slot_" + name.rstrip("0123456789"))
        return make()

    def bystanders(self, each: int) -> None:
        """Add ``each`` records to every collection, none of which a turn is about."""
        for _ in range(each):
            for kind in ("file", "person", "event", "ordered", "payee"):
                self.slot(kind)

    # ------------------------------------------------------------------ values
    def _pick(self, pool: Sequence[T]) -> T:
        for _ in range(PATIENCE):
            value = pool[int(self.rng.random() * len(pool))]
            if (text := str(value)) not in self._used:
                self._used.add(text)
                return value
        raise Crowded

    def _name(self) -> str:
        return self._pick(self.names)

    def _id(self, prefix: str) -> str:
        return self._pick(IDS[prefix])

    def _text(self) -> str:
        count = 1 if self.words == 1 else self.rng.randint(1, self.words)
        return " ".join(self._name() for _ in range(count))

    def _add(self, collection: str, record: dict[str, Value]) -> None:
        self.state[collection].append(record)

    # ------------------------------------------------------------------ new values
    def _slot_word(self) -> Slot:
        return {"value": self._text()}

    def _slot_new_file(self) -> Slot:
        return {"value": self._name()}

    _slot_new_person = _slot_new_event = _slot_new_file

    def _slot_phone(self) -> Slot:
        return {"value": self._pick(PHONES)}

    def _slot_day(self) -> Slot:
        return {"value": self._pick(DAYS)}

    def _slot_amount(self) -> Slot:
        return {"value": self._pick(MONEY)}

    def _slot_count(self) -> Slot:
        return {"value": self._pick(COUNTS)}

    # ------------------------------------------------------------------ what exists already
    def _slot_file(self) -> Slot:
        return self._file(self._text())

    def _file(self, text: str) -> Slot:
        name = self._name()
        self._add("files", {"name": name, "text": text})
        return {"value": name, "text": text}

    def _slot_person(self) -> Slot:
        return self._person(self._text())

    def _person(self, message: str) -> Slot:
        name, phone = self._name(), self._pick(PHONES)
        self._add("contacts", {"name": name, "phone": phone})
        self._add("inbox", {"phone": phone, "text": message})
        return {"value": name, "phone": phone}

    def _slot_event(self) -> Slot:
        event, title, day = self._id("e"), self._name(), self._pick(DAYS)
        self._add("events", {"id": event, "title": title, "day": day})
        return {"value": title, "id": event, "day": day}

    def _slot_item(self) -> Slot:
        item, name, price = self._id("i"), self._name(), self._pick(MONEY)
        self._add("items", {"id": item, "name": name, "price": price})
        return {"value": name, "id": item, "price": price}

    def _slot_ordered(self) -> Slot:
        slot, order, count = self._slot_item(), self._id("o"), self.rng.choice(COUNTS)
        self._add("orders", {"id": order, "item": slot["id"], "count": count})
        return {**slot, "order": order}

    def _slot_payee(self) -> Slot:
        account, owner, balance = self._id("a"), self._name(), self._pick(MONEY)
        self._add("accounts", {"id": account, "owner": owner, "balance": balance})
        return {"value": owner}

    # ------------------------------------------------------------------ what leads to another
    def _slot_person_file(self) -> Slot:
        return self._file(str(self._slot_person()["value"]))

    def _slot_event_person(self) -> Slot:
        return self._person(str(self._slot_event()["value"]))

    def _slot_item_person(self) -> Slot:
        return self._person(str(self._slot_item()["value"]))

    def _slot_event_person_file(self) -> Slot:
        return self._file(str(self._slot_event_person()["value"]))

    def _slot_item_person_file(self) -> Slot:
        return self._file(str(self._slot_item_person()["value"]))
