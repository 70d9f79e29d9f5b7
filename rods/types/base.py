"""The base of every record, and the words that several of them use."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic import JsonValue as JsonValue

JsonObject = dict[str, JsonValue]
Kind = Literal["base", "miss_func", "miss_param", "long_context"]
KINDS: tuple[Kind, ...] = ("base", "miss_func", "miss_param", "long_context")
Split = Literal["train", "eval"]
SnapshotKind = Literal["native", "delta", "replay"]
DeterminismClaim = Literal["proven", "probed", "no"]
Effect = Literal["read", "write", "unknown"]
StopReason = Literal["completed", "max_steps", "max_tokens", "error"]
EmptyTurnRule = Literal["judged", "all", "abstain"]


class Record(BaseModel):
    """Base of every record: immutable, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
