"""The tools of the trainer, not of the policy: their names, what they take, what they say."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from rods.types import JsonObject, ToolSpec

PREFIX = "rods_"


class Arguments(BaseModel):
    """Base of what a control tool takes: JSON types as they are, no unknown names."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoArguments(Arguments):
    """No arguments."""


class TasksArguments(Arguments):
    """A part of the list of tasks."""

    offset: int = Field(0, ge=0, description="How many to leave out.")
    limit: int = Field(50, ge=1, le=1000, description="At most so many.")


class ResetArguments(Arguments):
    """Which task to play."""

    task_id: str | None = Field(
        None, description="An id of rods_tasks; without one the next task in order."
    )


class EndTurnArguments(Arguments):
    """The policy's last words of a turn."""

    content: str = Field("", description="What the policy says to the user.")


class RestoreArguments(Arguments):
    """Where to go back to."""

    snapshot: dict[str, Any] = Field(description="What rods_snapshot gave, in this session or not.")


CONTROLS: dict[str, tuple[type[Arguments], str]] = {
    "rods_tasks": (TasksArguments, "The tasks that can be played: id, kind, number of user turns."),
    "rods_reset": (
        ResetArguments,
        "Begin an episode in a fresh world; gives the system text, the first user message, tools.",
    ),
    "rods_end_turn": (
        EndTurnArguments,
        "The policy has no more calls to make; gives the user's next message, and new tools.",
    ),
    "rods_snapshot": (NoArguments, "The episode as JSON, to come back to."),
    "rods_restore": (
        RestoreArguments,
        "Put world and conversation back to where a snapshot was taken.",
    ),
    "rods_progress": (NoArguments, "The reward in [0, 1] if the episode ended now."),
    "rods_verify": (NoArguments, "The environment's verdict on every turn."),
}


def control_specs() -> list[ToolSpec]:
    """The control tools as tools."""
    return [
        ToolSpec(name=name, description=text, parameters=_schema(takes), effect="unknown")
        for name, (takes, text) in CONTROLS.items()
    ]


def _schema(model: type[BaseModel]) -> JsonObject:
    """The model's JSON Schema as tools show it: without pydantic's titles."""
    schema = {"type": "object", "properties": {}, **model.model_json_schema()}
    for part in schema["properties"].values():
        part.pop("title", None)
    return cast(JsonObject, {k: v for k, v in schema.items() if k not in ("title", "description")})
