"""The table ``[synthesis.lm]``: a default model, and one or several models for single stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_serializer, field_validator

from rods.interfaces import ComponentConfig
from rods.types import Stage

SERVED = "openai/"  # of a server that speaks OpenAI's protocol
EMBEDDED = "smollm2"  # runs in this process
AdapterName = Literal["json", "chat", "plain"]


class ModelConfig(ComponentConfig):
    """One model, or several that share a server; what is not set follows ``[synthesis.lm]``."""

    model: tuple[str, ...] = Field(
        (),
        description="'openai/NAME' (any OpenAI-compatible server), 'smollm2' (embedded), or a list "
        "of them: an ensemble whose members take turns. Empty: no language model.",
    )
    url: str = Field("", description="The server's address, such as http://localhost:8000/v1.")
    api_key_env: str = Field(
        "OPENAI_API_KEY", description="The environment variable with the server's key, if any."
    )
    adapter: AdapterName | None = Field(
        None,
        description="How a request is put: 'json' (a schema the server enforces), 'chat' (marked "
        "fields), 'plain' (bare text, for models too small for either). Default: by the model.",
    )
    temperature: float = Field(0.7, ge=0, le=2, description="Of the sampling; 0: the likeliest.")
    top_p: float | None = Field(None, gt=0, le=1, description="Nucleus; unset: the server's own.")
    max_tokens: int = Field(1024, ge=1, description="Longest answer.")
    timeout_s: float = Field(120.0, gt=0, description="Silence after which a call has failed.")
    retries: int = Field(3, ge=0, description="Calls that repeat one that failed, with backoff.")
    outage_s: float = Field(
        30.0, ge=0, description="How long a server that failed is left alone; doubles up to 16x."
    )
    price_in: float = Field(0.0, ge=0, description="Price of a million tokens sent.")
    price_out: float = Field(0.0, ge=0, description="Price of a million tokens received.")

    @field_validator("model", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """One name is a list of one."""
        if isinstance(value, str):
            return (value,) if value else ()
        return value


class LmConfig(ModelConfig):
    """Which language models word, choose and judge, and at what price."""

    program: str = Field("", description="A file of tuned prompts, as `rods tune` writes it.")
    stages: tuple[Stage, ...] | None = Field(
        None,
        description="Stages that use the default model; others work without one. Default: all, "
        "but for smollm2 alone the rewrite: it can word, not choose or judge.",
    )
    plan: tuple[ModelConfig, ...] = Field((), description="Models of the plan stage alone.")
    execute: tuple[ModelConfig, ...] = Field((), description="Models of the execute stage alone.")
    rewrite: tuple[ModelConfig, ...] = Field((), description="Models of the rewrite stage alone.")
    critique: tuple[ModelConfig, ...] = Field((), description="Models of the critique stage alone.")
    augment: tuple[ModelConfig, ...] = Field((), description="Models of the augment stage alone.")

    @field_validator(*(stage.value for stage in Stage), mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        """One table is a list of one."""
        return (value,) if isinstance(value, Mapping) else value

    @field_serializer(*(stage.value for stage in Stage), mode="plain")
    def _as_set(self, tables: tuple[ModelConfig, ...]) -> list[dict[str, Any]]:
        """Only what was set: the rest follows the default model when it is read again, too."""
        return [table.model_dump(mode="json", exclude_unset=True) for table in tables]

    def of(self, stage: Stage) -> tuple[ModelConfig, ...]:
        """The models of a stage, one name each; none: the stage works without a language model."""
        own: tuple[ModelConfig, ...] = getattr(self, stage.value)
        tables = own or ((self,) if stage in self._default_stages else ())
        return tuple(single for table in tables for single in self._singles(table))

    @property
    def _default_stages(self) -> tuple[Stage, ...]:
        if self.stages is not None:
            return self.stages
        return (Stage.REWRITE,) if set(self.model) == {EMBEDDED} else tuple(Stage)

    def _singles(self, table: ModelConfig) -> list[ModelConfig]:
        """The table with the defaults filled in, once for each of its models."""
        shared = {key: getattr(self, key) for key in ModelConfig.model_fields}
        shared |= {key: getattr(table, key) for key in table.model_fields_set & shared.keys()}
        return [ModelConfig(**{**shared, "model": (name,)}) for name in shared["model"]]

    @property
    def used(self) -> bool:
        """Some stage has a model."""
        return any(self.of(stage) for stage in Stage)
