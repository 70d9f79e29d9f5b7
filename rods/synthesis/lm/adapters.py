"""How a request is put to a model: a JSON schema, marked fields, or bare text."""

from __future__ import annotations

import json
from typing import Any

import dspy

from rods.synthesis.lm.config import EMBEDDED, ModelConfig


def adapter_for(config: ModelConfig) -> dspy.Adapter:
    """The configured adapter, or the one that fits the model; none makes a hidden second call."""
    default = "plain" if config.model[0] == EMBEDDED else "json"
    match config.adapter or default:
        case "chat":
            return dspy.ChatAdapter(use_json_adapter_fallback=False)
        case "plain":
            return PlainAdapter()
    return dspy.JSONAdapter()


class PlainAdapter(dspy.JSONAdapter):
    """Bare turns of text where the only output is a string; anything else goes by JSON schema.

    Models of some hundred million parameters repeat field markers instead of filling them in.
    """

    def __call__(
        self,
        lm: Any,
        lm_kwargs: dict[str, Any],
        signature: Any,
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> Any:
        """One call; no schema is asked for where plain text will do."""
        if not _is_plain(signature):
            return super().__call__(lm, lm_kwargs, signature, demos, inputs)
        return dspy.Adapter.__call__(self, lm, lm_kwargs, signature, demos, inputs)

    def format(self, signature: Any, demos: list[dict[str, Any]], inputs: dict[str, Any]) -> Any:
        """Instructions, then each demonstration as a turn of user and assistant."""
        if not _is_plain(signature):
            return super().format(signature, demos, inputs)
        (output,) = signature.output_fields
        messages = [{"role": "system", "content": signature.instructions}]
        for demo in demos:
            messages.append({"role": "user", "content": _shown(signature, demo)})
            messages.append({"role": "assistant", "content": str(demo.get(output, ""))})
        return [*messages, {"role": "user", "content": _shown(signature, inputs)}]

    def parse(self, signature: Any, completion: str) -> Any:
        """The whole answer, without the blanks around it."""
        if not _is_plain(signature):
            return super().parse(signature, completion)
        (output,) = signature.output_fields
        return {output: completion.strip()}


def _is_plain(signature: Any) -> bool:
    return [field.annotation for field in signature.output_fields.values()] == [str]


def _shown(signature: Any, values: dict[str, Any]) -> str:
    lines = []
    for name in signature.input_fields:
        if name in values:
            value = values[name]
            lines.append(f"{name}: {value if isinstance(value, str) else json.dumps(value)}")
    return "\n".join(lines)
