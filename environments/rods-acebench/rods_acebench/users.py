"""Who answers the policy in multi-turn tasks: a script, or a language model as upstream has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rods.errors import ConfigError, WorldError
from rods.interfaces import SimulatedUser
from rods_acebench.clone import ROOT, Clone

TEXTS = f"{ROOT}/multi_turn/APIModel_user.py"
GREETING: Mapping[str, str] = {
    "en": "Is there anything you need help with today?",
    "zh": "今天有什么需要帮助的吗？",
}
FINISHED = "finish conversation"
TIMEOUT_S = 120.0


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


class ModelUser(SimulatedUser):
    """A language model with upstream's instructions for users, and its settings."""

    def __init__(self, client: Any, model: str, system: str, greeting: str) -> None:
        self._client, self._model = client, model
        self._messages: list[dict[str, str]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": greeting},
        ]

    def opening(self) -> str:
        """What it wants, in words of its own."""
        return self._said()

    def reply(self, said: str) -> str | None:
        """Its answer; None when it finishes the conversation."""
        self._messages.append(
            {"role": "user", "content": said.removeprefix("user:").removeprefix("agent:")}
        )
        answer = self._said()
        return None if FINISHED in answer else answer

    def _said(self) -> str:
        import openai  # noqa: PLC0415 - an extra

        try:
            answer = self._client.chat.completions.create(
                model=self._model,
                messages=self._messages,
                temperature=0.001,
                top_p=1,
                max_tokens=1000,
            )
        except openai.OpenAIError as error:
            raise WorldError(f"The user {self._model!r} does not answer: {error}") from error
        text = (answer.choices[0].message.content if answer.choices else None) or ""
        if not text.strip():
            raise WorldError(f"The user {self._model!r} answers with an empty message.")
        self._messages.append({"role": "assistant", "content": text})
        return text


def system_text(clone: Clone, travel: bool, instruction: str) -> str:
    """Upstream's instructions for a user who wants this."""
    name = f"SYSTEM_PROMPT_{'TRAVEL' if travel else 'BASE'}_{clone.language.upper()}"
    return clone.texts(TEXTS, [name])[name].replace("{instruction}", instruction)


def client_of(url: str | None, key_env: str) -> Any:
    """The library's client for the user's server; no request is made yet."""
    try:
        import openai  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "A language model as user needs the package openai: pip install 'rods-acebench[user]'."
        ) from error
    key = os.environ.get(key_env) or "none"  # local servers want none
    return openai.OpenAI(base_url=url, api_key=key, timeout=TIMEOUT_S, max_retries=3)
