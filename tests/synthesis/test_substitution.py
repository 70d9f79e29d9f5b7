"""Substitution is consistent, reversible, and never touches a part of a word."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rods.synthesis.substitution import (
    Substitution,
    TextTemplate,
    TreeTemplate,
    cut,
    occurrences,
)

_OLD = ["alice", "Alice Smith", "report.txt", "report", "o-17", "#tag", "1500"]
_NEW = ["xbora", "Xena Xu", "xamber.csv", "xelm", "q-99", "#xivy", "2717"]
_MAP = dict(zip(_OLD, _NEW, strict=True))
_GLUE = st.sampled_from(["", " ", ", ", "'", "'s ", ".", ". ", "-", "_", "/", "\n", "x", "9", "$"])
_WORDS = st.sampled_from([*_OLD, "the", "malice", "reports", "15000", "15.00", "@"])
_TEXTS = st.lists(st.tuples(_WORDS, _GLUE), max_size=8).map(lambda p: "".join(a + b for a, b in p))
_TREES = st.recursive(
    st.one_of(_TEXTS, st.sampled_from([1500, 1500.0, 15, True, None])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_OLD), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_TEXTS)
def test_there_and_back_is_the_same_text(text: str) -> None:
    there = Substitution(_MAP)
    assert there.inverse().text(there.text(text)) == text


@given(_TREES)
def test_there_and_back_is_the_same_tree(tree: Any) -> None:
    there = Substitution(_MAP, {1500: 2717})
    back = there.inverse().tree(there.tree(tree))
    assert back == tree
    assert repr(back) == repr(tree)  # 1500.0 stays a float, the order of keys stays


@given(_TEXTS)
def test_what_stands_inside_a_longer_word_stays(text: str) -> None:
    changed = Substitution(_MAP).text(text)
    words = re.compile(r"malice|reports|15000|15\.00(?![\w.-])")
    assert len(words.findall(changed)) >= len(words.findall(text)) - text.count("15.00")
    assert changed.count("malice") == text.count("malice")
    assert changed.count("reports") == text.count("reports")


@given(_TEXTS)
def test_a_template_renders_what_the_substitution_gives(text: str) -> None:
    substitution = Substitution(_MAP)
    template = TextTemplate(text, _OLD)
    assert template.render(_MAP) == substitution.text(text)
    assert template.touched == bool(template.spellings)
    assert template.render({}) == text


@given(_TREES)
def test_a_tree_template_leaves_the_seed_alone(tree: Any) -> None:
    before = repr(tree)
    template = TreeTemplate(tree, _OLD, {1500})
    assert template.render(_MAP, {1500: 2717}) == Substitution(_MAP, {1500: 2717}).tree(tree)
    assert template.render({}, {}) == tree
    assert repr(tree) == before


@given(_TEXTS, st.sampled_from(_OLD))
def test_counting_agrees_with_cutting(text: str, spelling: str) -> None:
    assert occurrences(text, spelling) == len(cut(text, [spelling])) // 2


@given(_TEXTS)
def test_cutting_is_what_a_regular_expression_finds(text: str) -> None:
    ordered = sorted(_OLD, key=len, reverse=True)
    bounded = [
        r"(?<!\w)(?<!\w[.\-])" * (s[0] != "#")
        + (r"(?<!\d[,:/])" if s.isdigit() else "")
        + re.escape(s)
        + r"(?!\w)(?![.\-]\w)"
        + (r"(?![,:/]\d)" if s.isdigit() else "")
        for s in ordered
    ]
    assert cut(text, _OLD) == re.split("(" + "|".join(bounded) + ")", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alice's bag", "Bora's bag"),
        ("(Alice)", "(Bora)"),
        ("Ask Alice.", "Ask Bora."),
        ("@Alice, #Alice", "@Bora, #Bora"),
        ("docs/Alice", "docs/Bora"),
        ("Alice.txt", "Alice.txt"),
        ("mid-Alice", "mid-Alice"),
        ("Alice_2", "Alice_2"),
        ("Aliceville", "Aliceville"),
    ],
)
def test_boundaries(text: str, expected: str) -> None:
    assert Substitution({"Alice": "Bora"}).text(text) == expected


@pytest.mark.parametrize("text", ["2026-15-01", "10:15", "15,000", "3.15", "15.5", "A15", "15/16"])
def test_a_number_is_not_found_inside_another(text: str) -> None:
    assert Substitution({"15": "20"}).text(text) == text


def test_the_longest_spelling_wins_and_values_can_change_places() -> None:
    swap = Substitution({"report": "letter", "final report": "last letter", "letter": "report"})
    assert swap.text("the final report, a report and a letter") == (
        "the last letter, a letter and a report"
    )


def test_numbers_keep_their_type_and_booleans_stay() -> None:
    tree = Substitution({}, {1: 2}).tree({"a": 1, "b": 1.0, "c": True})
    assert [type(v) for v in tree.values()] == [int, float, bool]
    assert list(tree.values()) == [2, 2.0, True]


def test_two_keys_that_become_one_are_an_error() -> None:
    with pytest.raises(ValueError, match="became equal"):
        Substitution({"a": "b"}).tree({"a": 1, "b": 2})


def test_untouched_branches_are_shared() -> None:
    tree = {"big": {"nothing": ["here"]}, "who": "alice"}
    changed = Substitution({"alice": "bora"}).tree(tree)
    assert changed["big"] is tree["big"]
