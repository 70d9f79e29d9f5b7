"""Keeps variants away from the registered evaluation tasks.

Three measures, each with a threshold: the edit distance of the call sequences with their arguments,
values that only evaluation tasks use, and the share of word 5-grams. What train seeds hold as well
(tickers, standard sentences) tells nothing and is left out. An inverted index makes a check cost
microseconds instead of a comparison with every task.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pydantic import Field

from rods.interfaces import ComponentConfig
from rods.structure.leaves import walk
from rods.types import Task, ToolCall, Turn

_WORDS = re.compile(r"\w+")
_SHINGLE = 5  # words


class DecontaminationConfig(ComponentConfig):
    """How near to an evaluation task is too near."""

    min_call_distance: float = Field(
        0.25,
        ge=0,
        le=1,
        description="Edits between the call sequences, over the longer one; below it: rejected.",
    )
    max_shared_values: int = Field(
        0, ge=0, description="Values that only evaluation tasks use, shared with one of them."
    )
    max_text_overlap: float = Field(
        0.5, ge=0, le=1, description="Share of the 5-grams of the user's words found in one task."
    )


class Decontaminator:
    """An index of the evaluation tasks."""

    def __init__(
        self,
        evaluation: Iterable[Task],
        train: Iterable[Task],
        config: DecontaminationConfig,
        public: Iterable[str] = (),
    ) -> None:
        """``public``: values that tell nothing, such as those an environment suggests."""
        self._config = config
        self._sequences: list[list[str]] = []
        self._known_sequences: set[tuple[str, ...]] = set()
        self._ids: list[str] = []
        self._by_call: dict[str, list[int]] = defaultdict(list)
        self._by_value: dict[str, list[int]] = defaultdict(list)
        self._by_shingle: dict[int, list[int]] = defaultdict(list)
        ours = list(train)
        known_values = {value.lower() for value in public}
        known_values |= {value for task in ours for value in values(task)}
        self._known_texts = frozenset(turn.user for task in ours for turn in task.turns)
        known_shingles = {shingle for task in ours for shingle in shingles(*task.turns)}
        for number, task in enumerate(evaluation):
            self._add(number, task, known_values, known_shingles)

    def _add(self, number: int, task: Task, known: set[str], known_shingles: set[int]) -> None:
        sequence = [call_key(c) for turn in task.turns for c in turn.reference]
        self._ids.append(task.id)
        self._sequences.append(sequence)
        if tuple(sequence) not in self._known_sequences:  # kinds of one story share theirs
            self._known_sequences.add(tuple(sequence))
            for call in set(sequence):
                self._by_call[call].append(number)
        for value in set(values(task)) - known:
            self._by_value[value].append(number)
        for shingle in shingles(*task.turns) - known_shingles:
            self._by_shingle[shingle].append(number)

    def problem(self, task: Task) -> str | None:
        """Which evaluation task is too near, and by which measure; None: the task is clean."""
        return self._calls(task) or self._values(task) or self._text(task)

    def _calls(self, task: Task) -> str | None:
        sequence = [call_key(c) for turn in task.turns for c in turn.reference]
        if not sequence:
            return None
        shared: Counter[int] = Counter()
        for call in sequence:
            shared.update(self._by_call.get(call, ()))
        least = (1 - self._config.min_call_distance) * len(sequence)
        for number in [n for n, overlap in shared.items() if overlap >= least]:
            overlap = shared[number]
            other = self._sequences[number]
            longer = max(len(sequence), len(other))
            limit = self._config.min_call_distance * longer
            if longer - overlap < limit or overlap >= longer:
                distance = edit_distance(sequence, other)
                if distance < limit or Counter(sequence) == Counter(other):
                    return f"calls of {self._ids[number]}: {distance} edits in {longer}"
        return None

    def _values(self, task: Task) -> str | None:
        shared: Counter[int] = Counter()
        for value in set(values(task)):
            shared.update(self._by_value.get(value, ()))
        for number, count in shared.most_common(1):
            if count > self._config.max_shared_values:
                return f"{count} values of {self._ids[number]}"
        return None

    def _text(self, task: Task) -> str | None:
        new = [t for t in task.turns if t.user not in self._known_texts]  # others tell nothing
        own = shingles(*new)
        shared: Counter[int] = Counter()
        for shingle in own & self._by_shingle.keys():
            shared.update(self._by_shingle[shingle])
        for number, count in shared.most_common(1):
            if count > self._config.max_text_overlap * len(own):
                return f"{count} of {len(own)} 5-grams of {self._ids[number]}"
        return None


def call_key(call: ToolCall) -> str:
    """Name and arguments in one text; 100 and 100.0 differ, the order of arguments does not."""
    return f"{call.name}{sorted(call.arguments.items())!r}"


def values(task: Task) -> Iterator[str]:
    """The strings of four characters or more among the arguments, in lower case."""
    for turn in task.turns:
        for call in turn.reference:
            for value in call.arguments.values():
                leaves = walk(value) if isinstance(value, dict | list) else (((), value),)
                for _, leaf in leaves:
                    if isinstance(leaf, str) and len(leaf) >= 4:
                        yield leaf.lower()


def shingles(*turns: Turn) -> set[int]:
    """Hashes of the 5-grams of the user's words; equal within one process only."""
    found: set[int] = set()
    for turn in turns:
        words = _WORDS.findall(turn.user.lower())
        shifted = [words[start:] for start in range(_SHINGLE)]
        found.update(map(hash, zip(*shifted, strict=False)))
    return found


def edit_distance(a: list[str], b: list[str]) -> int:
    """Levenshtein distance of two sequences: insertions, deletions, replacements."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (left != right))
    return row[-1]
