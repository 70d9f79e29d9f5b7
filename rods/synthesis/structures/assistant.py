"""What a language model may do for the stages: choose, fill, write, judge. Code does the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from rods.types import Stage

Fault = Literal["none", "wording", "ground_truth"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options shown, by number from 0, and the story that it tells."""

    index: int
    narrative: str = ""


@dataclass(frozen=True, slots=True)
class WritingTask:
    """A conversation to be written; values stand as ``{v1}``, free texts as ``{h1}``."""

    narrative: str
    messages: Sequence[Sequence[str]]  # one list of actions a message
    required: Sequence[Sequence[str]]  # placeholders that each message has to contain
    values: Mapping[str, str]  # placeholder -> what it stands for
    texts: Mapping[str, str]  # placeholder of a free text -> what it is for
    forbidden: Sequence[str]  # what the user does not know yet
    remarks: Sequence[str] = ()  # what was wrong with the last attempt


@dataclass(frozen=True, slots=True)
class Written:
    """Messages with placeholders, and the free texts by placeholder."""

    messages: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Blurred:
    """A request without the value that ``supply`` tells later, as ``{value}``."""

    request: str
    supply: str


@dataclass(frozen=True, slots=True)
class PatchTask:
    """A call that fails, and the places where the world's initial state may be changed."""

    call: str
    error: str
    places: Sequence[str]
    tried: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Patching:
    """A change as it was answered: nothing of it is checked yet."""

    place: int  # from 0
    key: str  # of a new entry; empty where a value is set
    value: str  # JSON


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """A finished task; the change of the world comes before the words."""

    changes: Sequence[str]  # one text a message: what its calls changed and showed
    calls: Sequence[str]  # one text a message
    messages: Sequence[str]
    narrative: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's verdict on the five criteria (arXiv:2606.19047), by name."""

    criteria: Mapping[str, bool]
    fault: Fault = "none"
    remarks: str = ""

    @property
    def passed(self) -> bool:
        """All five criteria hold and nothing is at fault."""
        return self.fault == "none" and all(self.criteria.values())


class Assistant(Protocol):
    """Language models by stage. An outage raises WorldError and says nothing about the seed."""

    def helps(self, stage: Stage) -> bool:
        """A model is configured for the stage."""
        ...

    def choose(
        self, key: str, domain: str, options: Sequence[str], guidance: Sequence[str]
    ) -> Choice | None:
        """The most natural option; None: the answer could not be read."""
        ...

    def fill(self, key: str, story: str, texts: Mapping[str, str]) -> Mapping[str, str]:
        """A text for each free text of a plan; those that could not be read are missing."""
        ...

    def write(self, key: str, task: WritingTask) -> Written | None:
        """The conversation; None: the answer could not be read."""
        ...

    def write_one(self, key: str, request: str) -> str | None:
        """One message by itself; None: the answer could not be read."""
        ...

    def blur(self, key: str, message: str, missing: str) -> Blurred | None:
        """The message without ``{value}``; None: the answer could not be read."""
        ...

    def patch(self, key: str, task: PatchTask) -> Patching | None:
        """One change that may help; None: the answer could not be read."""
        ...

    def judge(self, key: str, task: JudgingTask, judges: int) -> Sequence[Judgement]:
        """The verdicts of so many judges; those that could not be read are missing."""
        ...


class NoAssistant:
    """Stages that work alone."""

    def helps(self, stage: Stage) -> bool:
        """No stage has a model."""
        return False

    def choose(
        self, key: str, domain: str, options: Sequence[str], guidance: Sequence[str]
    ) -> Choice | None:
        """No choice."""
        return None

    def fill(self, key: str, story: str, texts: Mapping[str, str]) -> Mapping[str, str]:
        """No texts."""
        return {}

    def write(self, key: str, task: WritingTask) -> Written | None:
        """No words."""
        return None

    def write_one(self, key: str, request: str) -> str | None:
        """No words."""
        return None

    def blur(self, key: str, message: str, missing: str) -> Blurred | None:
        """No words."""
        return None

    def patch(self, key: str, task: PatchTask) -> Patching | None:
        """No change."""
        return None

    def judge(self, key: str, task: JudgingTask, judges: int) -> Sequence[Judgement]:
        """No verdicts."""
        return ()
