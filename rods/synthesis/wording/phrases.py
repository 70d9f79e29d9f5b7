"""How a user asks for one call: an environment's phrases, or a sentence made from the tool's docs.

A phrase is a text with fields. ``{name}`` is the parameter as it can be said; ``{name!}`` the same,
but only where it is pointed at ("that order"), not told; ``{name:a=x;*=y}`` picks words by the
parameter's value; ``[...]`` is left out where a field in it cannot be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rods.types import JsonValue, Phrase, ToolSpec

Said = Callable[[str], str | None]  # parameter -> its words; None: it cannot be said

_FIELD = re.compile(r"\{(\w+)(!?)(?::([^{}]*))?\}")
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_PREFACE = re.compile(r"^.*?\bdescription:\s*", re.IGNORECASE | re.DOTALL)
_SENTENCE_END = re.compile(r"[.;](?:\s|$)|\n")
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_IRREGULAR = {"does": "do", "goes": "go", "has": "have", "is": "be"}
_SIBILANT = ("ches", "shes", "sses", "xes", "zes")
_HANDLES = ("id", "name", "number", "token", "key")


@dataclass(frozen=True, slots=True)
class Rendered:
    """One alternative with its fields filled, and the parameters that it says."""

    text: str
    parameters: frozenset[str]


class Pointed(str):
    """Words that point at a value which the user does not tell, whatever else they tell."""

    __slots__ = ()


class _Unsaid(Exception):  # noqa: N818 - control flow inside this module
    """A field cannot be said."""


def render(template: str, arguments: Mapping[str, JsonValue], said: Said) -> Rendered | None:
    """The phrase for these arguments; None where a field outside brackets cannot be said."""
    used: set[str] = set()

    def field(found: re.Match[str]) -> str:
        name, pointed, choices = found.groups()
        words = said(name) if choices is None else _chosen(choices, arguments.get(name))
        told = pointed and not isinstance(words, Pointed) and "{" in (words or "")
        if words is None or name not in arguments or told:
            raise _Unsaid
        used.add(name)
        return words

    def optional(text: str) -> str:
        before = set(used)
        try:
            return _FIELD.sub(field, text)
        except _Unsaid:
            used.intersection_update(before)
            return ""

    try:
        parts = _OPTIONAL.split(template)  # every second one stood in brackets
        parts[::2] = [_FIELD.sub(field, part) for part in parts[::2]]
    except _Unsaid:
        return None
    parts[1::2] = [optional(part) for part in parts[1::2]]
    return Rendered(" ".join("".join(parts).split()), frozenset(used))


def _chosen(choices: str, value: JsonValue) -> str | None:
    table = dict(choice.partition("=")[::2] for choice in choices.split(";"))
    return table.get(str(value).lower(), table.get("*"))


def documented(spec: ToolSpec) -> Phrase:
    """A request made from the first sentence of the tool's description."""
    text = _PREFACE.sub("", spec.description).strip() or spec.name
    end = _SENTENCE_END.search(text)
    sentence = text[: end.start()] if end else text
    return Phrase(says=(_imperative(sentence.rstrip(". ")),))


def _imperative(sentence: str) -> str:
    """ "Gives the text of a file" asks for it as "give the text of a file"."""
    first, _, rest = re.sub(r"[\[\]{}]", "", sentence).partition(" ")
    verb = first.lower()
    if verb in _IRREGULAR:
        verb = _IRREGULAR[verb]
    elif verb.endswith("ies"):
        verb = verb[:-3] + "y"
    elif verb.endswith(_SIBILANT):
        verb = verb[:-2]
    elif verb.endswith("s") and not verb.endswith("ss"):
        verb = verb[:-1]
    return f"{verb} {rest}".strip()


def plain(parameter: str) -> str:
    """The parameter's name in plain words: ``fileName2`` is a file name."""
    return " ".join(_NAME_PARTS.findall(parameter)).lower() or "value"


def thing(parameter: str) -> str:
    """What the parameter names: ``order_id`` and ``orderId`` an order, ``price`` a price."""
    words = plain(parameter).split()
    while len(words) > 1 and words[-1] in _HANDLES:
        words.pop()
    return " ".join(words)
