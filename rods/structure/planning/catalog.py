"""What is known of an environment's tools: learned once, kept as JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from rods.structure.planning.patterns import Pattern
from rods.structure.planning.records import RecordRule
from rods.structure.planning.relations import Relation


class Home(NamedTuple):
    """A place that holds the values which a parameter accepts."""

    probe: str  # the reading tool whose answer is searched; empty: the state
    pattern: Pattern


class Flow(NamedTuple):
    """A result's field that a parameter of another tool takes."""

    pattern: Pattern
    parameter: str
    weight: float  # uses seen; 1: inferred; below 1: any number will do


class Recipe(NamedTuple):
    """A kind of change of an initial state that has made a failing call work."""

    kind: str  # set or insert
    path: list[str]  # of what is set
    home: Home | None = None  # whose container takes the entry
    parameter: str = ""  # whose value is inserted
    field: str = ""  # of a record that holds the value; empty: a key or the value itself
    value: Any = None  # what is set, or an entry to copy


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ParameterFacts(_Facts):
    """A parameter: its type and where its values come from."""

    kind: str
    items: str = ""  # the type of a list's items
    required: bool = True
    closed: list[JsonValue] = Field(default_factory=list)  # by the schema or its description
    labels: dict[str, int] = Field(default_factory=dict)  # source kind -> uses
    homes: list[Home] = Field(default_factory=list)  # best first
    fresh: bool = True  # most values are new to the world
    prose: bool = False
    suggested: bool = False  # the environment knows values
    values: list[JsonValue] = Field(
        default_factory=list
    )  # seen in train references, usual ones first
    made: float = 0.0  # how often a value of the world is there thanks to an earlier call
    reuse: float = 0.0  # how often a value used before in the task is used again


class ToolFacts(_Facts):
    """A tool: its parameters, and what calls of it did."""

    group: int  # tools that are always offered together
    parameters: dict[str, ParameterFacts]
    tried: int = 0
    worked: int = 0
    wrote: int = 0
    seen: int = 0  # uses in train references
    false_fields: list[str] = Field(default_factory=list)  # that train references show as false
    outputs: list[tuple[Pattern, str]] = Field(default_factory=list)  # place -> its JSON type

    idle: int = 0  # calls of train references that changed nothing
    quiet: int = 0  # of these the ones with empty answers: what they did is hidden

    @property
    def always_writes(self) -> bool:
        """No call that worked has left the visible state as it was."""
        return self.wrote > 0 and not self.idle


class Catalog(_Facts):
    """Everything the planner knows of a world."""

    tools: dict[str, ToolFacts]
    flows: dict[str, list[Flow]] = Field(default_factory=dict)  # "producer consumer" -> flows
    hard: dict[str, tuple[int, int]] = Field(default_factory=dict)  # pair -> (broken, seen)
    sequences: list[list[str]] = Field(default_factory=list)  # of the train tasks
    probes: list[str] = Field(default_factory=list)
    roots: dict[int, list[str]] = Field(default_factory=dict)  # group -> its parts of the state
    recipes: dict[str, list[Recipe]] = Field(default_factory=dict)  # failure -> what helped
    relations: dict[str, list[Relation]] = Field(default_factory=dict)  # "tool parameter" -> rules
    records: dict[str, list[RecordRule]] = Field(default_factory=dict)  # tool -> rules

    def flows_between(self, producer: str, consumer: str) -> list[Flow]:
        """How a result of one can reach the other."""
        return self.flows.get(f"{producer} {consumer}", [])

    def hard_rate(self, earlier: str, later: str) -> tuple[float, int]:
        """Share of the pairs seen in which the later call fails without the earlier, and n."""
        broken, seen = self.hard.get(f"{earlier} {later}", (0, 0))
        return (broken / seen if seen else 0.0), seen
