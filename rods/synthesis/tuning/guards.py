"""Which proposals of a reflecting model are no instructions: small models return strange things."""

from __future__ import annotations

import re

SHORTEST, LONGEST = 30, 6000  # characters
_COPIED = 12  # words in a row that also stand in an example
_BRACES = re.compile(r"\{[A-Za-z_][A-Za-z_ ]*\}|<[a-z_]+>|\[\[ ## .* ## \]\]")
_WORD = re.compile(r"\w+")


def fault_of(proposal: str, current: str, examples: str) -> str:
    """Why the proposal cannot replace the current instructions; empty: it can."""
    text = proposal.strip()
    if len(text) < SHORTEST:
        return f"it has {len(text)} characters, fewer than {SHORTEST}"
    if len(text) > LONGEST:
        return f"it has {len(text)} characters, more than {LONGEST}"
    placeholders = [found for found in _BRACES.findall(text) if found not in current]
    if placeholders:
        return f"it holds the placeholder {placeholders[0]!r} instead of words"
    if copied := _copied(text, current, examples):
        return f"it copies an example: {copied!r}"
    return ""


def _copied(text: str, current: str, examples: str) -> str:
    """A long run of words that the examples hold and the current instructions do not."""
    known = _runs(examples) - _runs(current)
    return next((" ".join(run) for run in sorted(_runs(text) & known)), "")


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return {tuple(words[i : i + _COPIED]) for i in range(len(words) - _COPIED + 1)}
