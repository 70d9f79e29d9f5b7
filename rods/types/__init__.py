"""The records that the parts of rods hand to each other.

All are frozen, forbid unknown keys and survive a JSON round trip. ``frozen`` does not freeze a
dict inside: whoever opens a world copies the initial state first.
"""

from __future__ import annotations

from rods.types.base import (
    KINDS,
    DeterminismClaim,
    Effect,
    EmptyTurnRule,
    JsonObject,
    JsonValue,
    Kind,
    Record,
    SnapshotKind,
    Split,
    StopReason,
)
from rods.types.curriculum import (
    Check,
    EpochPlan,
    PoolState,
    Regions,
    RetireReason,
    StepReport,
    TrainingStage,
    Visit,
)
from rods.types.rollouts import (
    AssistantMessage,
    Message,
    ProgressReward,
    Rollout,
    RolloutGroup,
    Step,
    Trajectory,
    TurnVerdict,
)
from rods.types.synthesis import (
    Candidate,
    ComplexityProfile,
    DataEdge,
    ModelUsage,
    Rejection,
    SourceKind,
    Stage,
    SynthesisOutcome,
)
from rods.types.tasks import (
    Phrase,
    Provenance,
    Task,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
    content_id,
)

__all__ = [
    "KINDS",
    "AssistantMessage",
    "Candidate",
    "Check",
    "ComplexityProfile",
    "DataEdge",
    "DeterminismClaim",
    "Effect",
    "EmptyTurnRule",
    "EpochPlan",
    "JsonObject",
    "JsonValue",
    "Kind",
    "Message",
    "ModelUsage",
    "Phrase",
    "PoolState",
    "ProgressReward",
    "Provenance",
    "Record",
    "Regions",
    "Rejection",
    "RetireReason",
    "Rollout",
    "RolloutGroup",
    "SnapshotKind",
    "SourceKind",
    "Split",
    "Stage",
    "Step",
    "StepReport",
    "StopReason",
    "SynthesisOutcome",
    "Task",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "TrainingStage",
    "Trajectory",
    "Turn",
    "TurnVerdict",
    "Visit",
    "content_id",
]
