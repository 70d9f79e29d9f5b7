"""What is known of a seed: its execution, sources and profile, and the values that can be others.

Made once for each seed and kept; a variant then costs a draw, a few joins and two executions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rods.structure.leaves import Path, like
from rods.structure.sources import Source
from rods.structure.trace import Trace
from rods.synthesis.recognition import world_words
from rods.synthesis.slots import Drawn, Slot
from rods.synthesis.substitution import TextTemplate, TreeTemplate
from rods.types import ComplexityProfile, JsonObject, SourceKind, Task, content_id

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Binding:
    """An argument's leaf that is taken from an earlier result while replaying."""

    parameter: str
    path: Path
    producer: int
    result_path: Path
    model: Any  # the seed's value: its type is kept
    transform: str = ""

    def taken(self, value: Any) -> Any:
        """The argument that follows from the result's value."""
        if self.transform == "rounded":
            return round(value, len(repr(self.model).partition(".")[2]))
        return like(value, self.model)


class Templates:
    """A seed cut once at all spellings of its slots; what a draw does not name stays as it was."""

    def __init__(self, task: Task, trace: Trace, slots: Sequence[Slot], words: frozenset[str]):
        narrow = _spellings(slots, words)
        wide_slots = [s for s in slots if not s.narrow]
        wide = _spellings(wide_slots, words)
        numbers = {s.value for s in slots if s.numeric}
        wide_numbers = {s.value for s in wide_slots if s.numeric}
        self.user = tuple(TextTemplate(turn.user, narrow) for turn in task.turns)
        self.state = TreeTemplate(task.initial_state, wide, wide_numbers)
        self.arguments = tuple(TreeTemplate(c.arguments, narrow, numbers) for c in trace.calls)
        self.results = tuple(TextTemplate(content, wide) for content in trace.contents)
        self.numbers = {spelling for s in slots if s.numeric for spelling in s.spellings}

    def initial_state(self, drawn: Drawn) -> JsonObject:
        """The state that the variant starts in."""
        return self.state.render(drawn.texts, drawn.numbers)  # type: ignore[no-any-return]

    def users(self, drawn: Drawn) -> tuple[str, ...]:
        """The user's words, one text a turn."""
        return tuple(template.render(drawn.texts) for template in self.user)


def _spellings(slots: Sequence[Slot], words: frozenset[str]) -> set[str]:
    """All spellings, and those closed values that the seed's world holds: they may swap places."""
    found = {spelling for slot in slots for spelling in slot.spellings}
    found |= {old for slot in slots for old in slot.links}
    found |= {
        choice
        for slot in slots
        for choice in slot.choices
        if isinstance(choice, str) and choice.lower() in words
    }
    return found


@dataclass(slots=True)
class Blueprint:
    """A seed with all that its variants need."""

    task: Task
    trace: Trace
    sources: tuple[Source, ...]
    profile: ComplexityProfile
    slots: tuple[Slot, ...]  # candidates; those that execution has confirmed, once studied
    mentions: tuple[tuple[int, str], ...] = ()  # (call, number) of its result that the user names
    content_id: str = field(init=False)
    words: frozenset[str] = field(init=False)
    spoken: frozenset[str] = field(init=False)  # the words of the user, as written
    user: str = field(init=False)  # all the user says, in lower case
    bindings: Mapping[int, tuple[Binding, ...]] = field(init=False)
    _templates: Templates | None = None

    def __post_init__(self) -> None:
        self.content_id = content_id(self.task)
        self.user = "\n".join(turn.user for turn in self.task.turns).lower()
        self.spoken = frozenset(w for turn in self.task.turns for w in _WORD.findall(turn.user))
        self.words = world_words(self.task, self.trace)
        bound: dict[int, list[Binding]] = {}
        for s in self.sources:
            if s.producer is not None and s.result_path is not None:
                binding = Binding(
                    s.parameter, s.path, s.producer, s.result_path, s.value, s.transform
                )
                bound.setdefault(s.call, []).append(binding)
        self.bindings = {call: tuple(found) for call, found in bound.items()}

    @property
    def needs_state(self) -> bool:
        """Some argument's source can only be told with the whole visible state at hand."""
        told = (SourceKind.USER, SourceKind.CONSTANT, SourceKind.RESULT)
        return any(source.kind not in told for source in self.sources)

    @property
    def templates(self) -> Templates:
        """The seed cut at the spellings of its candidates, made when first needed."""
        if self._templates is None:
            self._templates = Templates(self.task, self.trace, self.slots, self.words)
        return self._templates
