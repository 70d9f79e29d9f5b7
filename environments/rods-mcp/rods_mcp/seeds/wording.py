"""How a user asks for explored calls: the tools' phrases or descriptions, and the values named."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from rods.synthesis.wording.phrases import documented, plain, thing
from rods.types import ToolCall, ToolSpec
from rods_mcp.seeds.values import Leaf

_FIELD = re.compile(r"\{(\w+)\}")
_OPENERS = ("Please {}.", "Could you {}?", "I need you to {}.", "{}, please.")
_LATER = ("Now please {}.", "Next, could you {}?", "Also {}, please.", "After that, {}.")


def worded(
    calls: Sequence[tuple[ToolCall, Sequence[Leaf], ToolSpec]],
    says: Mapping[str, Sequence[str]],
    turn: int,
    rng: random.Random,
) -> str:
    """One message that asks for the calls of a turn, in their order.

    ``says``: tool -> sentences in the imperative with ``{field}`` where a value belongs.
    """
    parts = [action(leaves, spec, says.get(spec.name, ()), rng) for _, leaves, spec in calls]
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and then {parts[-1]}"
    text = rng.choice(_LATER if turn else _OPENERS).replace("{}", joined)
    return text[:1].upper() + text[1:]


def action(leaves: Sequence[Leaf], spec: ToolSpec, says: Sequence[str], rng: random.Random) -> str:
    """The call in the imperative, with every value that no result gives."""
    values = {leaf.field: _value(leaf) for leaf in leaves}
    fitting = [text for text in says if set(_FIELD.findall(text)) == set(values)]
    if fitting:
        text = _FIELD.sub(lambda found: values[found[1]], rng.choice(fitting))
        return re.sub(r"\b(?:the|a) that\b", "that", text)
    (sentence,) = documented(spec).says
    details = ", ".join(f"{plain(name)} {value}" for name, value in values.items())
    return f"{sentence}: {details}" if details else sentence


def _value(leaf: Leaf) -> str:
    """The value as the user says it; one that a result gives is only pointed at."""
    if leaf.origin is not None:
        return f"that {thing(leaf.source)}"
    if isinstance(leaf.value, str):
        mark = '"' if "'" in leaf.value else "'"
        return f"{mark}{leaf.value}{mark}" if " " in leaf.value else leaf.value
    return str(leaf.value)
