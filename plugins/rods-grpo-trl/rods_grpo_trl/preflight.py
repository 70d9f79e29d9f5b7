"""What can be known about a training before it starts: seconds, no GPU, nothing downloaded."""

from __future__ import annotations

from collections.abc import Sequence

from rods.interfaces import Environment
from rods.types import Check, Task
from rods_grpo_trl.config import GrpoConfig


def checks(config: GrpoConfig, environment: Environment, tasks: Sequence[Task]) -> list[Check]:
    """One line a check; a failed one says how to mend it."""
    return []
