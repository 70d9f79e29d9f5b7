"""Environments for trainers of others: call by call, behind MCP, as TRL and OpenEnv want them."""

from __future__ import annotations

from rods.serving.interactive import InteractiveEpisode
from rods.serving.records import Opening, Snapshot, Verdict
from rods.serving.task_index import TaskIndex

__all__ = ["InteractiveEpisode", "Opening", "Snapshot", "TaskIndex", "Verdict"]
