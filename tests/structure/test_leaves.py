"""Values keep their place: what is found at a path is read at that path."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rods.structure.leaves import find, like, parse, read, same, walk

_SCALARS = st.one_of(st.integers(), st.booleans(), st.none(), st.text("abc 1'\"", max_size=8))
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("xyz", min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_TREES)
def test_every_leaf_is_read_at_its_path(tree: object) -> None:
    for path, leaf in walk(tree):
        assert read(tree, path) == leaf


@given(_TREES)
def test_json_answers_are_parsed_and_other_texts_stay_themselves(tree: object) -> None:
    assert parse(json.dumps(tree)) == tree
    assert parse("[not json") == "[not json"
    assert parse("None") == "None"


def test_a_value_is_found_as_leaf_as_key_and_inside_a_text() -> None:
    answer = parse('{"stocks": {"NVDA": 1.5}, "note": "order 12446 was placed"}')
    for value in (1.5, "NVDA", "12446"):
        path = find(answer, value)
        assert path is not None
        assert same(read(answer, path), value)


def test_a_python_list_as_text_is_searched_by_its_items() -> None:
    answer = parse("['NVDA', 'ALPH']")
    path = find(answer, "ALPH")
    assert path is not None
    assert read(parse("['LAMP', 'HARP']"), path) == "HARP"


def test_a_part_of_a_longer_word_is_not_found() -> None:
    assert find(parse('{"file": "report.txt"}'), "repo") is None


def test_a_path_into_another_shape_is_a_lookup_error() -> None:
    path = find(parse('{"id": 7}'), 7)
    assert path is not None
    with pytest.raises(LookupError):
        read(parse('{"error": "no"}'), path)
    with pytest.raises(LookupError):
        read({"id": {"nested": 1}}, path)


@pytest.mark.parametrize(
    ("value", "model", "taken"),
    [(7.0, 1, 7), (7, 1.5, 7.0), (7, "1", "7"), ("x", "1", "x"), (3, True, True)],
)
def test_a_value_takes_the_type_of_its_model(value: object, model: object, taken: object) -> None:
    result = like(value, model)  # type: ignore[arg-type]
    assert result == taken
    assert type(result) is type(taken)


def test_a_fraction_is_no_integer() -> None:
    with pytest.raises(ValueError, match="no integer"):
        like(1.5, 2)


def test_true_is_not_one() -> None:
    assert not same(True, 1)
    assert same(1, 1.0)
    assert not same("1", None)
