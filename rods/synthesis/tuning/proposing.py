"""New instructions from failures, by a reflecting model; what is no instruction is refused."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

from rods.errors import WorldError
from rods.interfaces import StageModels
from rods.synthesis.tuning.feedback import stage_of
from rods.synthesis.tuning.guards import fault_of
from rods.synthesis.tuning.journal import Journal

logger = logging.getLogger(__name__)

_TRIES = 2
_SHOWN = 4  # examples of each predictor
_EXAMPLE_CHARS = 2500


class ImproveInstructions(dspy.Signature):
    """Improve the instructions that a language model follows as one step of a larger program.

    Read the present instructions, then the examples: what the step was given, what it answered, and
    what an automatic check said of it. Find the rule behind each complaint and write instructions
    that would have prevented it, for inputs never seen before. Keep every requirement of the
    present instructions that still holds. Name no value, name or id of the examples. Answer with
    the complete new instructions as plain text, without headings, quotes or placeholders.
    """

    present: str = dspy.InputField(desc="what the step is told now")
    examples: list[str] = dspy.InputField(desc="given, answered, and what the check said")
    refused: str = dspy.InputField(desc="why your last answer was refused; empty at first")
    improved: str = dspy.OutputField(desc="the complete new instructions")


class Proposer:
    """Asks for better instructions; keeps the present ones when none of the answers is any."""

    def __init__(self, models: StageModels, journal: Journal) -> None:
        self._models, self._journal = models, journal
        self._ask = dspy.Predict(ImproveInstructions)
        self.asked, self.refused = 0, 0

    def __call__(
        self,
        candidate: Mapping[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Predictor -> its new instructions."""
        return {
            name: self._improved(name, candidate[name], reflective_dataset[name])
            for name in components_to_update
            if reflective_dataset.get(name)
        }

    def _improved(self, name: str, current: str, records: Sequence[Mapping[str, Any]]) -> str:
        examples = [_shown(record) for record in records[:_SHOWN]]
        refused = ""
        for _ in range(_TRIES):
            text = self._remembered(name, current, examples, refused)
            refused = fault_of(text, current, "\n".join(examples))
            if not refused:
                return text.strip()
            self.refused += 1
            logger.info("New instructions for %r were refused: %s", name, refused)
        return current

    def _remembered(self, name: str, current: str, examples: list[str], refused: str) -> str:
        question = ("proposal", name, current, examples, refused)
        if (known := self._journal.get(*question)) is None:
            known = self._reflected(name, current, examples, refused)
            self._journal.put(*question, answer=known)
        return str(known)

    def _reflected(self, name: str, current: str, examples: list[str], refused: str) -> str:
        self.asked += 1
        try:
            with self._models.of(stage_of(name), f"reflect/{self.asked}"):
                answer = self._ask(present=current, examples=examples, refused=refused)
        except WorldError:
            raise
        except (AdapterParseError, LMError) as error:
            logger.info("The reflecting model's answer could not be read: %s", error)
            return ""
        return str(answer.improved)


def _shown(record: Mapping[str, Any]) -> str:
    parts = [f"{key}: {json.dumps(record[key], ensure_ascii=False)}" for key in record]
    given, answered, said = (part[:_EXAMPLE_CHARS] for part in parts)
    return f"{given}\n{answered}\n{said}"
