"""The five stages as interfaces, and the records that one hands to the next.

A stage returns what it made, or a ``Rejection``: data, never an exception. Any of them can be
replaced by a class with the same method (``SkillAlignedSynthesizer.Config.stages``).
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from rods.structure.proposal import Proposal
from rods.structure.trace import Trace
from rods.synthesis.blueprint import Blueprint
from rods.synthesis.reasons import Reason
from rods.synthesis.slots import Drawn, Slot
from rods.types import ComplexityProfile, JsonObject, Kind, Rejection, Stage, Task, ToolCall


@dataclass(frozen=True, slots=True)
class Plan:
    """What a variant keeps and what it changes.

    ``calls`` names the functions of each turn: the seed's own, or those of a ``proposal`` of other
    functions in the seed's structure. ``edit`` is the kind that the augmentation is to make of it,
    None for the blueprint's own kind.
    """

    blueprint: Blueprint
    slots: tuple[Slot, ...]
    calls: tuple[tuple[str, ...], ...]
    edit: Kind | None = None
    proposal: Proposal | None = None
    narrative: str = ""  # two or three sentences that all texts of a proposal are written around
    like: ComplexityProfile | None = None  # of the seed, where the blueprint is its base form

    @classmethod
    def of(cls, blueprint: Blueprint, slots: tuple[Slot, ...], edit: Kind | None = None) -> Self:
        """The seed's own structure with these values changed."""
        turns = blueprint.task.turns
        calls = tuple(tuple(call.name for call in turn.reference) for turn in turns)
        return cls(blueprint, slots, calls, edit)

    @classmethod
    def new(
        cls,
        blueprint: Blueprint,
        proposal: Proposal,
        narrative: str = "",
        edit: Kind | None = None,
        like: ComplexityProfile | None = None,
    ) -> Self:
        """Other functions in the seed's structure."""
        calls = tuple(tuple(planned.call.name for planned in turn) for turn in proposal.turns)
        return cls(blueprint, (), calls, edit, proposal, narrative, like)


@dataclass(frozen=True, slots=True)
class Execution:
    """A reference that has run in a fresh world; no word is written yet."""

    plan: Plan
    initial_state: JsonObject
    reference: tuple[tuple[ToolCall, ...], ...]  # one tuple a turn
    trace: Trace
    drawn: Drawn


@dataclass(frozen=True, slots=True)
class Draft:
    """A whole task that no gate has seen yet."""

    task: Task
    execution: Execution
    expected: ComplexityProfile
    edit: str = ""  # what the augmentation did, or the writer in its place
    claimed: Trace | None = None  # an execution of exactly this reference, if there was one
    substitutions: Mapping[str, str] = field(default_factory=dict)
    refined: int = 0  # times that it was worded again after the critique's remarks
    fallen: tuple[Rejection, ...] = ()  # words of a model that the phrases' replaced
    kept: frozenset[Stage] = frozenset()  # stages that kept what their model answered


@dataclass(slots=True)
class Feedback:
    """What the attempts at one variant have taught; made anew for each variant."""

    failures: list[tuple[Plan, Rejection]] = field(default_factory=list)
    new_structure: bool | None = None  # None: not decided yet
    proposals: list[Proposal] | None = None  # None: not asked for yet
    ended: bool = False  # nothing else is to be tried

    @property
    def failed(self) -> list[Proposal]:
        """The proposals that have failed."""
        return [plan.proposal for plan, _ in self.failures if plan.proposal is not None]

    @property
    def blocked(self) -> frozenset[str]:
        """Functions whose calls have failed."""
        executed = [r for _, r in self.failures if r.stage is Stage.EXECUTE]
        return frozenset(r.detail.partition(":")[0] for r in executed)

    @property
    def guidance(self) -> list[str]:
        """What went wrong, one line an attempt."""
        return [f"{r.stage}: {r.reason}: {r.detail}" for _, r in self.failures]


class PlanStage(ABC):
    """I. Decides on the structure and on what changes."""

    @abstractmethod
    def plan(self, blueprint: Blueprint, rng: random.Random) -> Plan | Rejection:
        """What this variant is to be."""

    def plan_again(
        self, blueprint: Blueprint, rng: random.Random, feedback: Feedback
    ) -> Plan | Rejection:
        """The plan of every attempt; by default what was learned from earlier ones is not used."""
        return self.plan(blueprint, rng)


class ExecuteStage(ABC):
    """II. Makes the ground truth: it has run before a word is written."""

    @abstractmethod
    def execute(self, plan: Plan, rng: random.Random) -> Execution | Rejection:
        """New values, a new world and a reference that solves the task there."""


class RewriteStage(ABC):
    """III. Words the user's turns."""

    @abstractmethod
    def rewrite(self, execution: Execution, rng: random.Random) -> Draft | Rejection:
        """The whole task, with texts that ask for what the reference does."""

    def refine(self, draft: Draft, remarks: str, rng: random.Random) -> Draft | Rejection | None:
        """The draft in other words after the critique's remarks; None: it cannot be."""
        return None


class CritiqueStage(ABC):
    """IV. Lets only sound tasks pass; what it cannot decide it rejects."""

    @abstractmethod
    def critique(self, draft: Draft) -> Rejection | None:
        """None: the draft passes every gate. Asked before and after an augmentation."""

    def judge(self, draft: Draft) -> Rejection | None:
        """The verdict that is too dear to be asked twice: on the draft after its augmentation.

        By default nothing is left to judge.
        """
        return None


class AugmentStage(ABC):
    """V. Makes a harder kind of a verified draft; the critique sees it again.

    Not asked where the rewriting has made the kind with its words already (``Draft.edit``).
    """

    @abstractmethod
    def augment(self, draft: Draft, rng: random.Random) -> Draft | Rejection:
        """The draft after the plan's edit."""

    def widen(self, draft: Draft, rng: random.Random) -> Draft:
        """The draft with more on offer than it needs, of any kind; by default as it is."""
        return draft


@dataclass(frozen=True, slots=True)
class Stages:
    """One implementation of each."""

    plan: PlanStage
    execute: ExecuteStage
    rewrite: RewriteStage
    critique: CritiqueStage
    augment: AugmentStage


def rejection(stage: Stage, reason: Reason, detail: str = "", seed_id: str = "") -> Rejection:
    """A rejection; the detail is cut at 300 characters."""
    return Rejection(stage=stage, reason=reason, detail=detail[:300], seed_id=seed_id)
