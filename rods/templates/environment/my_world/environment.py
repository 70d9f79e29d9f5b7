"""The tasks: what users ask for, and the calls that solve it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import rods
from pydantic import Field
from rods.types import JsonObject, JsonValue, Split, Task, ToolCall, ToolSpec, Turn

from my_world.world import MyWorldSession

# Evaluation has names of its own, of the same words: what is measured there was never trained on,
# and a policy without pretraining can still spell it.
FIRST = ("dwarf", "giant", "dark", "pale", "wild", "tame", "early", "late")
LAST = ("fern", "cactus", "ivy", "palm", "orchid", "basil", "aloe", "jade")
NAMES: dict[Split, tuple[str, ...]] = {"train": (), "eval": ()}
for row, first in enumerate(FIRST):
    for column, last in enumerate(LAST):
        NAMES["train" if (row + column) % 4 else "eval"] += (f"{first} {last}",)
ROOMS = ("hall", "kitchen", "attic", "porch", "study", "bath")


class MyWorldEnvironment(rods.Environment):
    """Greenhouses with two or three requests each."""

    name = "my-world"
    determinism = "proven"  # rods check compares runs in two processes, on two days
    fits_tiny_policy = True  # short texts and few tools: a policy without pretraining can learn it

    class Config(rods.Environment.Config):
        """What users may set: -o environment.train_tasks=64."""

        train_tasks: int = Field(16, ge=1, description="Tasks of the train split.")
        eval_tasks: int = Field(32, ge=1, description="Tasks of the eval split.")

    config: Config

    def tools(self) -> Mapping[str, ToolSpec]:
        """All tools by name."""
        return MyWorldSession.tools()

    def open(self, task: Task) -> rods.Session:
        """A greenhouse of its own for one rollout."""
        return MyWorldSession(task.initial_state)

    def tasks(self, split: Split) -> Sequence[Task]:
        """The tasks of a split, always the same ones in the same order."""
        config = self.config
        count = config.train_tasks if split == "train" else config.eval_tasks
        return [self._task(split, f"{split}-{number}") for number in range(count)]

    def practice(self, rng_seed: int) -> Iterator[Task]:
        """Endless train tasks: a tiny policy learns the language of the world from them."""
        number = 0
        while True:
            yield self._task("train", f"practice-{rng_seed}-{number}")
            number += 1

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        """Values that variants of a task may use; never those of the evaluation."""
        known = {"name": NAMES["train"], "room": ROOMS}
        return known.get(parameter, ())

    def _task(self, split: Split, number: str) -> Task:
        rng = random.Random(number)  # equal numbers, equal tasks: never random by itself
        names = rng.sample(NAMES[split], 4)
        ids = [f"p-{n}" for n in rng.sample(range(10, 100), len(names))]
        rooms = rng.sample(ROOMS, 4)
        facts = zip(ids, names, strict=True)
        plants: JsonObject = {
            plant: {"name": name, "room": rooms[0], "water": 0} for plant, name in facts
        }
        asked = list(zip(ids, names, strict=True))[: rng.randint(2, 3)]
        return Task(
            id=f"my-world-{number}",
            environment=self.name,
            split=split,
            tools=tuple(self.tools()),
            turns=tuple(self._turn(rng, plant, name, rooms) for plant, name in asked),
            initial_state={"plants": plants, "rooms": list(rooms)},
        )

    def _turn(self, rng: random.Random, plant: str, name: str, rooms: list[str]) -> Turn:
        """A request and its reference: the calls that solve it, which are run and compared."""
        find = ToolCall(name="find_plant", arguments={"name": name})
        if rng.random() < 0.5:
            ml = rng.randint(100, 999)
            water = ToolCall(name="water_plant", arguments={"plant": plant, "ml": ml})
            return Turn(user=f"Water the {name} with {ml} ml.", reference=(find, water))
        room = rng.choice(rooms[1:])  # not where it stands: the request must change something
        move = ToolCall(name="move_plant", arguments={"plant": plant, "room": room})
        return Turn(user=f"Move the {name} to the {room}.", reference=(find, move))
