"""The world itself: a greenhouse, and the tools that an agent has in it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from rods.types import JsonObject
from rods.worlds import JsonSession, Refused, tool

# What stands here is the JSON Schema that the policy reads and that every call must fit.
Name = Annotated[str, Field(description="Name of a plant, such as fern.")]
Plant = Annotated[str, Field(description="Id of a plant, such as p-17.")]
Millilitres = Annotated[int, Field(ge=1, le=999, description="Amount of water in ml.")]
Room = Annotated[str, Field(description="Name of a room, such as hall.")]


class MyWorldSession(JsonSession):
    """One greenhouse, in ``self.data``: ``plants`` (id -> name, room, water) and ``rooms``.

    Each rollout has its own. Nothing else may hold state: no globals, no clock, no files.
    """

    @tool("read")
    def find_plant(self, name: Name) -> JsonObject:
        """Find a plant by its name."""
        for plant, facts in self.data["plants"].items():
            if facts["name"] == name:
                return {"plant": plant}
        raise Refused(f"There is no plant called {name[:40]!r}.")  # the policy reads this

    @tool("write")
    def water_plant(self, plant: Plant, ml: Millilitres) -> JsonObject:
        """Water a plant."""
        facts = self._facts(plant)
        facts["water"] += ml
        return {"water": facts["water"]}

    @tool("write")
    def move_plant(self, plant: Plant, room: Room) -> JsonObject:
        """Move a plant to another room."""
        facts = self._facts(plant)
        if room not in self.data["rooms"]:
            raise Refused(f"There is no room {room[:40]!r}.")
        facts["room"] = room
        return {"room": room}

    def _facts(self, plant: str) -> dict[str, Any]:
        if plant not in self.data["plants"]:
            raise Refused(f"There is no plant {plant[:40]!r}.")
        facts: dict[str, Any] = self.data["plants"][plant]
        return facts
