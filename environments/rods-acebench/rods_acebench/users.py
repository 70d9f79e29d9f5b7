"""Who answers the policy in multi-turn tasks: a script, or a language model as upstream has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rods.interfaces import SimulatedUser
from rods.served.user import ModelUser, UserModel
from rods.types import Message
from rods_acebench.clone import ROOT, Clone

TEXTS = f"{ROOT}/multi_turn/APIModel_user.py"
GREETING: Mapping[str, str] = {
    "en": "Is there anything you need help with today?",
    "zh": "今天有什么需要帮助的吗？",
}
FINISHED = "finish conversation"
SAMPLING: Mapping[str, Any] = {"temperature": 0.001, "top_p": 1, "max_tokens": 1000}


class ScriptedUser(SimulatedUser):
    """Says its whole instruction at once, and leaves when it is answered."""

    def __init__(self, instruction: str) -> None:
        self._instruction = instruction

    def opening(self) -> str:
        """The instruction."""
        return self._instruction

    def reply(self, said: str) -> str | None:
        """Nothing more."""
        return None


class AcebenchUser(ModelUser):
    """A language model with upstream's instructions for users, and its settings."""

    def __init__(self, model: UserModel, system: str, greeting: str) -> None:
        heard = [Message(role="system", content=system), Message(role="user", content=greeting)]
        super().__init__(model, heard, [FINISHED], sampling=SAMPLING)

    def opening(self) -> str:
        """What it wants, in words of its own; upstream looks for no end in them."""
        return self.spoken() or self.said

    def reply(self, said: str) -> str | None:
        """Its answer; None when it finishes the conversation."""
        return super().reply(said.removeprefix("user:").removeprefix("agent:"))


def system_text(clone: Clone, travel: bool, instruction: str) -> str:
    """Upstream's instructions for a user who wants this."""
    name = f"SYSTEM_PROMPT_{'TRAVEL' if travel else 'BASE'}_{clone.language.upper()}"
    return clone.texts(TEXTS, [name])[name].replace("{instruction}", instruction)
