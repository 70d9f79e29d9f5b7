"""What any wording of a plan must fulfil, as remarks that a writer can act on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rods.interfaces import Environment
from rods.structure import transforms
from rods.structure.sources import Labeller, by_parameter, said
from rods.structure.trace import Trace
from rods.synthesis.wording.brief import Brief
from rods.synthesis.wording.phrases import plain
from rods.synthesis.wording.spoken import PLACEHOLDER, fill
from rods.types import ComplexityProfile, JsonObject, SourceKind, Task, ToolSpec

_WORD = re.compile(r"\w+")
_MOST = 1500  # characters of one turn
_MARKERS = ("<think", "</think", "<tool", "```", "function call", "tool call")
_FROM = {
    SourceKind.USER: "said by the user",
    SourceKind.RESULT: "left to an earlier result",
    SourceKind.STATE: "left to what the assistant finds in the world",
    SourceKind.CONSTANT: "left to the tool's usual value",
    SourceKind.DERIVED: "said only in its plain form",
}


class WordingCheck:
    """Checks wordings of one environment's plans."""

    def __init__(self, environment: Environment, labeller: Labeller) -> None:
        self._environment, self._labeller = environment, labeller
        self._names = frozenset(telling_names(environment.tools().values()))

    def problems(self, brief: Brief, templates: Sequence[str]) -> list[str]:
        """Remarks on the templates alone; empty: they say what they must and nothing else."""
        if len(templates) != brief.turns:
            return [f"There must be exactly {brief.turns} messages, not {len(templates)}."]
        texts = [fill(template, brief.spellings) for template in templates]
        return [
            *self._missing(brief, templates, texts),
            *_told(brief, texts),
            *self._improper(brief, texts),
        ]

    def _missing(
        self, brief: Brief, templates: Sequence[str], texts: Sequence[str]
    ) -> Iterator[str]:
        busy = {call.turn for call in brief.calls} | {one.turn for one in brief.silent}
        for turn, template in enumerate(templates):
            if not template.strip() and turn in busy:
                yield f"Message {turn + 1} is empty."
            for found in PLACEHOLDER.finditer(template):
                if found[1] not in brief.values:
                    yield f"Message {turn + 1} uses {found[0]}, which does not exist."
            for value in brief.due(turn):
                if not _says(value.spelling, texts[turn]):
                    yield f"Message {turn + 1} must contain {{{value.label}}} ({value.about})."

    def _improper(self, brief: Brief, texts: Sequence[str]) -> Iterator[str]:
        spoken = {word for value in brief.values.values() for word in _WORD.findall(value.spelling)}
        for turn, text in enumerate(texts, 1):
            if names := (set(_WORD.findall(text)) & self._names) - spoken:
                yield f"Message {turn} names {', '.join(sorted(names))}; users know no such names."
            if any(marker in text.lower() for marker in _MARKERS):
                yield f"Message {turn} must be plain words of a user."
            if len(text) > _MOST:
                yield f"Message {turn} is too long: {len(text)} characters, at most {_MOST}."

    def sources(self, task: Task, trace: Trace, expected: ComplexityProfile) -> list[str]:
        """Remarks on arguments whose source, by the task's labels, is not the plan's."""
        labels = self._labeller.label(task, trace, lambda: self._state(task))
        found = by_parameter(labels, len(trace.calls))
        return [
            f"Message {trace.turn_of[index] + 1}: the {plain(parameter)} of "
            f"{plain(trace.calls[index].name)} must be {_FROM.get(wanted, wanted)}; "
            f"now it is {_FROM.get(have, have)}."
            for index, kinds in enumerate(expected.sources)
            for parameter, wanted in kinds.items()
            if (have := found[index].get(parameter)) is not None and have is not wanted
        ]

    def _state(self, task: Task) -> JsonObject:
        session = self._environment.open(task)
        try:
            return session.state()
        finally:
            session.close()


def telling_names(specs: Iterable[ToolSpec]) -> Iterator[str]:
    """Names of functions and parameters that nobody says in plain words."""
    for spec in specs:
        for name in (spec.name, *spec.properties):
            if "_" in name or any(ch.isupper() for ch in name[1:]):
                yield name


def _told(brief: Brief, texts: Sequence[str]) -> Iterator[str]:
    """Values that a user must not have said yet, or at all."""
    known = {(type(v.literal), v.literal): v.turn for v in brief.values.values()}
    for one in brief.silent:
        said_in = known.get((type(one.literal), one.literal), one.turn + 1)
        if said_in <= one.turn and one.kind is not SourceKind.DERIVED:
            continue  # the user says it for another call
        heard = "\n".join(texts[: one.turn + 1])
        numbers = {number for _, number in transforms.numbers(heard)}
        if one.kind is SourceKind.USER:  # left out: in words it would be told, too
            numbers |= transforms.number_words(heard)
        if said(one.literal, heard, heard.casefold(), numbers):
            wanted = _FROM.get(one.kind, one.kind)
            if one.kind is SourceKind.USER:
                wanted = f"left out there and told in message {one.turn + 2}"
            yield f"No message up to {one.turn + 1} may say {one.literal!r}: it must be {wanted}."


def _says(spelling: str, text: str) -> bool:
    return said(spelling, text, text.casefold(), ()) or spelling in text
