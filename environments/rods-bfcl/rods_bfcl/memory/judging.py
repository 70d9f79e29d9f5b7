"""The official verdict on an answer: one of the accepted ones stands in it as whole words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rods.types import Step, Trajectory

_IGNORED = str.maketrans(dict.fromkeys(",./-_*^()", ""))


def final_answer(trajectory: Trajectory) -> str:
    """What the policy said when it made no more calls; empty if it never did."""
    steps = trajectory.turns[0] if trajectory.turns else ()
    last = steps[-1] if steps else None
    return last.message.content if last is not None and _is_answer(last) else ""


def is_right(answer: str, accepted: Sequence[str]) -> bool:
    """One of ``accepted`` stands in the answer, but for case and the marks ``,./-_*^()``."""
    said = _standard(answer)
    return bool(answer) and any(
        re.search(rf"\b{re.escape(_standard(text))}\b", said) for text in accepted
    )


def _is_answer(step: Step) -> bool:
    return not step.message.calls and step.message.malformed is None


def _standard(text: str) -> str:
    return text.translate(_IGNORED).lower().replace("'", '"')
