"""The policy. Replace it by yours: what counts is that it answers messages with a message."""

from __future__ import annotations

import json
import random
from pathlib import Path

from rods.errors import DataError
from rods.types import AssistantMessage, Task

FILE = "policy.json"


class Policy:
    """Knows a share of the references: it stands in for a model, so that training takes seconds."""

    def __init__(self, skill: float = 0.4, step: int = 0) -> None:
        self.skill, self.step = skill, step

    def act(self, task: Task, turn: int, rng: random.Random) -> AssistantMessage:
        """One message for a turn. A model would read the messages and never see the task."""
        calls = task.turns[turn].reference if rng.random() < self.skill else ()
        return AssistantMessage(calls=calls, ends_turn=True)

    def learn(self, rewards: list[float]) -> None:
        """One update: here only groups whose rewards differ teach, as with GRPO."""
        if len(set(rewards)) > 1:
            self.skill = min(1.0, self.skill + 0.01)

    def save(self, folder: Path) -> None:
        """Write ``policy.json``, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{FILE}.part"
        part.write_text(json.dumps({"skill": self.skill, "step": self.step}))
        part.rename(folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> Policy:
        """What ``save`` wrote."""
        try:
            return cls(**json.loads((folder / FILE).read_text()))
        except (OSError, ValueError, TypeError) as error:
            message = f"{folder} holds no policy of my-trainer"
            raise DataError(f"{message}: {error}") from error
