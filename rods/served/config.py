"""Which model is asked, where, and how it samples."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from rods.episode import EpisodeLimits

SERVED = "openai/"  # in front of a model's name: a server that speaks OpenAI's protocol
HOSTED = "https://api.openai.com/v1"


class ServedConfig(BaseModel):
    """A model of a server, and the limits of its rollouts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1, description="The name that the server knows.")
    url: str = Field(HOSTED, description="The server's address, such as http://localhost:8000/v1.")
    api_key_env: str = Field(
        "OPENAI_API_KEY", description="The environment variable with the key, if one is wanted."
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="Of the sampling; unset: the server's own."
    )
    max_tokens: int | None = Field(
        None, ge=1, description="Longest message; unset: the server's own."
    )
    concurrency: int = Field(8, ge=1, le=1024, description="Rollouts at a time.")
    timeout_s: float = Field(120.0, gt=0, description="Silence after which a request has failed.")
    retries: int = Field(3, ge=0, description="Requests that repeat one that failed.")
    limits: EpisodeLimits = Field(
        default_factory=EpisodeLimits, description="What ends an episode early."
    )

    @property
    def shown(self) -> str:
        """The model as users name it."""
        return f"{SERVED}{self.model}"
