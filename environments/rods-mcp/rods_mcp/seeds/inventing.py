"""New values by what the name of a field asks for; readable, and none is used twice."""

from __future__ import annotations

import random
import re

from rods.synthesis import lexicon

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
TEXTS = frozenset(  # fields of free text, which is always new
    {"content", "contents", "text", "message", "body", "description", "observations", "note"}
    | {"notes", "comment", "observation"}
)


class Inventor:
    """New values that no other task of this server has."""

    def __init__(self, rng: random.Random, taken: set[str]) -> None:
        self.rng, self.taken = rng, taken

    def text(self, field_name: str) -> str | None:
        """A text for a field by its name; None for an id or a pattern: those must exist."""
        parts = parts_of(field_name)
        for _ in range(50):
            made = self._drawn(parts)
            if made is None or made.casefold() not in self.taken:
                if made is not None:
                    self.taken.add(made.casefold())
                return made
        return None

    def _drawn(self, parts: set[str]) -> str | None:
        rng = self.rng
        if parts & {"id", "ids", "hash", "revision", "sha", "pattern", "query", "timestamp"}:
            return None
        if parts & {"type", "kind", "category", "tag", "label"} or parts & {"branch", "target"}:
            return f"{rng.choice(lexicon.NOUNS)}_{rng.choice(lexicon.NOUNS)}"
        if parts & {"directory", "folder", "dir"}:
            return f"{rng.choice(lexicon.NOUNS)}_{rng.choice(lexicon.TOPICS)}"
        if parts & {"path", "paths", "file", "files", "filename", "source", "destination"}:
            return f"{rng.choice(lexicon.NOUNS)}_{rng.choice(lexicon.EVENTS)}.txt"
        if parts & {"title", "subject", "headline", "summary"}:
            chosen = map(rng.choice, (lexicon.QUALIFIERS, lexicon.TOPICS, lexicon.EVENTS))
            return " ".join(chosen).capitalize()
        if parts & TEXTS:
            return self.sentence()
        return f"{rng.choice(lexicon.FIRST_NAMES)} {rng.choice(lexicon.LAST_NAMES)}"

    def sentence(self) -> str:
        """A harmless sentence."""
        rng = self.rng
        return rng.choice(lexicon.SENTENCES).format(
            qualifier=rng.choice(lexicon.QUALIFIERS),
            topic=rng.choice(lexicon.TOPICS),
            event=rng.choice(lexicon.EVENTS),
        )


def parts_of(name: str) -> set[str]:
    """The words of a field's name in lower case."""
    return {part.lower() for part in _PART.findall(name)}
