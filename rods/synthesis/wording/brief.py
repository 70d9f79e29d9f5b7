"""What the user's words have to say and what they must not, for every turn of an executed plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rods.structure.leaves import Path, Scalar, parse, walk
from rods.structure.proposal import PlannedCall, Proposal
from rods.structure.trace import Trace
from rods.synthesis.wording.given import Given, given, noun_of
from rods.synthesis.wording.phrases import plain
from rods.synthesis.wording.reference import ORDINALS, known_as, pointed_at
from rods.synthesis.wording.spoken import plain_form, quoted, spelling
from rods.types import JsonObject, SourceKind, ToolCall

_SAID = (SourceKind.USER, SourceKind.DERIVED)
Tables = Mapping[str, Mapping[str, str]]


class Unspeakable(Exception):  # noqa: N818 - the plan is given up
    """A value of the plan has no form in which a user could say it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value that the user says, under a label that stands for it until all is written."""

    label: str
    literal: Scalar
    spelling: str
    turn: int  # the turn that has to say it
    about: str  # "title of create ticket"
    hole: bool = False  # free text: the writer may put another there


@dataclass(frozen=True, slots=True)
class Silent:
    """A value that the user must not have said by the end of ``turn``."""

    call: int
    parameter: str
    literal: Scalar
    turn: int
    kind: SourceKind


@dataclass(frozen=True, slots=True)
class BriefCall:
    """One call: the words for what the user says of it, the producers of what results give."""

    call: ToolCall
    turn: int
    kinds: Mapping[str, SourceKind]
    words: Mapping[str, str]  # parameter -> its placeholders in words
    producers: Mapping[str, int]  # parameter -> the call that gives it
    pointers: Mapping[str, str]  # parameter -> which of several things of a result is meant
    given: Mapping[str, Given] = field(
        default_factory=dict
    )  # parameter -> what its result calls it


@dataclass(slots=True)
class Brief:
    """The whole conversation to be written."""

    turns: int
    calls: list[BriefCall] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    silent: list[Silent] = field(default_factory=list)

    @property
    def spellings(self) -> dict[str, str]:
        """Label -> what stands in the text for it."""
        return {label: value.spelling for label, value in self.values.items()}

    def due(self, turn: int) -> list[Value]:
        """The values that this turn has to say."""
        return [value for value in self.values.values() if value.turn == turn]


def brief_of(proposal: Proposal, trace: Trace, tables: Tables, *, terse: bool = False) -> Brief:
    """The brief of an executed plan; Unspeakable where a derived value has no plain form."""
    builder = _Builder(Brief(len(proposal.turns)), tables, terse, proposal.initial_state)
    return builder.built(proposal, trace)


class _Builder:
    def __init__(self, brief: Brief, tables: Tables, terse: bool, state: JsonObject) -> None:
        self.brief, self.tables, self.terse, self.state = brief, tables, terse, state
        self.labels: dict[tuple[str, Scalar], str] = {}

    def built(self, proposal: Proposal, trace: Trace) -> Brief:
        for turn, planned, call in zip(trace.turn_of, proposal.calls, trace.calls, strict=True):
            self.add(planned, call, turn, trace)
        return self.brief

    def add(self, planned: PlannedCall, call: ToolCall, turn: int, trace: Trace) -> None:
        bound = {(b.parameter, b.path) for b in planned.bound}
        words: dict[str, str] = {}
        for parameter, argument in call.arguments.items():
            kind = planned.sources.get(parameter, SourceKind.CONSTANT)
            about = f"{plain(parameter)} of {plain(call.name)}"
            told: list[str] = []
            for path, leaf in walk(argument):
                if kind in _SAID and (parameter, path) not in bound:
                    hole = parameter in planned.holes
                    told += self.told(path, leaf, kind, turn, about, hole)
                if kind is not SourceKind.USER and _sayable(leaf):
                    silent = Silent(len(self.brief.calls), parameter, leaf, turn, kind)
                    self.brief.silent.append(silent)
            if told:
                words[parameter] = _listed(told)
        producers = {b.parameter: b.producer for b in planned.bound if not b.path}
        results = {
            b.parameter: given(parse(trace.contents[b.producer]), b.result_path)
            for b in planned.bound
            if not b.path
        }
        pointers = self.pointers(planned, call, trace, results)
        made = BriefCall(call, turn, planned.sources, words, producers, pointers, results)
        self.brief.calls.append(made)

    def pointers(
        self, planned: PlannedCall, call: ToolCall, trace: Trace, results: Mapping[str, Given]
    ) -> dict[str, str]:
        """Words for what results hold several of and for what only the state holds."""
        found: dict[str, str | None] = {}
        for b in planned.bound:
            value = call.arguments[b.parameter]
            if not b.path and isinstance(value, str | int | float):
                content, noun = (
                    trace.contents[b.producer],
                    noun_of(results[b.parameter], b.parameter),
                )
                found[b.parameter] = pointed_at(
                    noun, b.parameter, value, content, b.result_path
                ) or _which(noun, b.producer, len(self.brief.calls), trace)
        for parameter, value in call.arguments.items():
            in_state = planned.sources.get(parameter) is SourceKind.STATE
            if in_state and isinstance(value, str | int | float):
                found[parameter] = known_as(parameter, value, self.state)
        return {parameter: words for parameter, words in found.items() if words}

    def told(
        self, path: Path, leaf: Any, kind: SourceKind, turn: int, about: str, hole: bool
    ) -> Iterator[str]:
        """The words for one leaf; fields of an object are named."""
        if not _sayable(leaf):
            return
        label = self.label(leaf, kind, turn, about, hole)
        spelled, bare = self.brief.values[label].spelling, self.terse or not isinstance(leaf, str)
        bare = bare or kind is SourceKind.DERIVED
        word = quoted(label, spelled, terse=bare)
        names = [plain(step) for step in path if isinstance(step, str)]
        yield " ".join((*names, word))

    def label(self, leaf: Scalar, kind: SourceKind, turn: int, about: str, hole: bool) -> str:
        key = (f"{type(leaf).__name__}/{kind}", leaf)
        if key not in self.labels:
            words = plain_form(leaf, self.tables) if kind is SourceKind.DERIVED else spelling(leaf)
            if words is None:
                raise Unspeakable(f"{about}: {leaf!r}")
            self.labels[key] = label = f"{'h' if hole else 'v'}{len(self.labels) + 1}"
            self.brief.values[label] = Value(label, leaf, words, turn, about, hole)
        return self.labels[key]


def _which(noun: str, producer: int, before: int, trace: Trace) -> str | None:
    """ "the first order", where "that order" would be a later one; None: the latest is meant."""
    name = trace.calls[producer].name
    alike = [index for index in range(before) if trace.calls[index].name == name]
    latest = trace.contents[alike[-1]] == trace.contents[producer]
    number = alike.index(producer)
    return None if latest or number >= len(ORDINALS) else f"the {ORDINALS[number]} {noun}"


def _sayable(leaf: Any) -> bool:
    if leaf is None or isinstance(leaf, bool):
        return False
    return not isinstance(leaf, str) or any(ch.isalnum() for ch in leaf)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
