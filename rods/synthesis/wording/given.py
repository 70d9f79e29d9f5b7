"""What a value taken from an answer is called there: the noun by which a user points at it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rods.structure.leaves import Path, Scalar, tokens, walk
from rods.structure.planning.patterns import is_keyed
from rods.synthesis.wording.phrases import plain, thing

_DIGITS = re.compile(r"\d+")
_VALUE_ID = re.compile(r"[A-Za-z]*[_-]?\d+")
_ID = re.compile(r"[A-Z]*\d[A-Z0-9]*")  # a key such as "USR007" or "12345"
_HOLDERS = ("list", "map", "dict")
_NAMELESS = ("content", "contents", "item", "items", "entry", "entries", "data")
_HANDLES = ("id", "name", "number", "token", "key")


@dataclass(frozen=True, slots=True)
class Given:
    """A value that an earlier answer gives."""

    field: str = ""  # the name that it has there; empty: none
    alone: bool = True  # the answer holds nothing else that could be meant
    listed: bool = False  # one of a list


def given(answer: Any, path: Path) -> Given:
    """How the answer calls the value at the path."""
    field, value, listed = "", answer, False
    for step in path:
        if isinstance(step, tuple):  # a word of a text, or a key: the name is not its own
            field = ""
            break
        if isinstance(value, dict):
            named = not (names_records(value) or alike(value, step) > 1 or _ID.fullmatch(step))
            field, listed = (step, False) if named else (field, not named)
        else:
            listed = True
        value = value[step]
    return Given(field, _count(answer) < 2, listed)


def noun_of(of: Given, parameter: str) -> str:
    """The value's name in the answer in plain words; the parameter's where it has none of its own.

    A field and a parameter that speak of the same thing are called as the parameter is.
    """
    words = thing(of.field).split() if of.field else []
    held = bool(words) and words[-1].endswith(_HOLDERS)
    words = words[:-1] if held else words
    if not words or words[-1] in (*_NAMELESS, *_HANDLES) or agree(of.field, parameter):
        return thing(parameter)
    if of.listed and not held:
        words[-1] = singular(words[-1])
    return " ".join(words)


def agree(field: str, parameter: str) -> bool:
    """Both speak of the same thing: ``order_id`` and ``id``, ``card_id`` and ``credit_card``."""
    mine, other = thing(field).split(), thing(parameter).split()
    if not mine or not other or mine[-1] in _HANDLES:
        return True
    return mine[-1] == other[-1]


def template_for(nouns: Mapping[str, str], of: Given, parameter: str) -> str:
    """The noun of a phrase for this value: by its field, else by the parameter that takes it.

    The parameter's and ``*`` count only where they can mean nothing else of the answer.
    """
    if of.field in nouns:
        return nouns[of.field]
    if of.alone or (of.field and agree(of.field, parameter)):
        if parameter in nouns:
            return nouns[parameter]
        return nouns.get("*", "") if of.alone else ""
    return ""


def pointing(nouns: Mapping[str, str], of: Given, parameter: str, value: Any) -> str:
    """Words for a value that was given before: "that order", "that number of lines"."""
    told = nouns.get(f"{of.field}!") or (nouns.get("*!", "") if of.alone else "")
    if told:
        return told
    noun = noun_of(of, parameter)
    many = noun.endswith("s") and not noun.endswith("ss")
    if many and isinstance(value, list):
        return f"those {noun}"
    counted = many and isinstance(value, int | float)
    return f"that number of {noun}" if counted else f"that {noun}"


def singular(word: str) -> str:
    """``stocks`` as ``stock``, ``cities`` as ``city``, ``matches`` as ``match``."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def holder(name: str) -> str:
    """What a container holds, one of it: ``credit_card_list`` a credit card, ``orders`` an order.

    Empty where the name tells nothing.
    """
    words = plain(name).split()
    words = words[:-1] if words[-1] in _HOLDERS else words
    if not words or words[-1] in _NAMELESS:
        return ""
    return " ".join((*words[:-1], singular(words[-1])))


def names_records(value: dict[str, Any]) -> bool:
    """Its keys are ids or names of records, not fields."""
    items = list(value.values())
    return bool(items) and all(isinstance(item, dict) for item in items) and is_keyed(value)


def alike(siblings: dict[str, Any], name: str) -> int:
    """How many ids of the same form a dictionary knows by names: {"Alice": "U1", "Bob": "U2"}.

    None where ``name`` is a field's, as that of {"order_id": "12", "account_id": "345"} is.
    """
    value = siblings[name]
    if not isinstance(value, str) or not _VALUE_ID.fullmatch(value) or _is_field(name):
        return 0
    form = _DIGITS.sub("0", value)
    ids = [v for key, v in siblings.items() if isinstance(v, str) and not _is_field(key)]
    return sum(_DIGITS.sub("0", v) == form for v in ids)


def _is_field(key: str) -> bool:
    return plain(key).split()[-1] in _HANDLES


def _count(answer: Any) -> int:
    """Values that the answer tells; a text of several words without a field counts them all."""
    if isinstance(answer, str):
        return len(list(tokens(answer)))
    told: list[Scalar] = [leaf for _, leaf in walk(answer) if leaf not in (None, "")]
    return sum(not isinstance(leaf, bool) for leaf in told)
