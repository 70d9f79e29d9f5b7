"""Places that are alike over tasks."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rods.structure.leaves import find
from rods.structure.planning.patterns import is_keyed, pattern_of, places, values_at

_LEAVES = st.one_of(st.integers(), st.text("ab ,'", max_size=6), st.none())
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("xyz", min_size=1), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(_TREES)
def test_every_value_is_read_at_its_pattern(tree: Any) -> None:
    for pattern, value in places(tree):
        if not isinstance(value, dict | list):
            assert value in values_at(tree, pattern)


def test_keys_that_are_data_are_no_part_of_a_pattern() -> None:
    first = {"stocks": {"AAPL": {"price": 1.5}, "NVDA": {"price": 2.5}}}
    other = {"stocks": {"TSLA": {"price": 3.5}, "GOOG": {"price": 4.5}}}
    found = {pattern for pattern, value in places(first) if value == 1.5}
    assert found == {("stocks", "*", "price")}
    assert values_at(other, ("stocks", "*", "price")) == [3.5, 4.5]
    assert values_at(other, ("stocks", "#key")) == ["TSLA", "GOOG"]


def test_a_path_that_was_found_has_the_pattern_of_its_place() -> None:
    answer = {"orders": [{"id": 7}, {"id": 9}], "note": "order 12446 was placed"}
    for value, expected in ((9, ("orders", "*", "id")), ("12446", ("note", "~"))):
        path = find(answer, value)
        assert path is not None
        assert pattern_of(answer, path) == expected


def test_a_few_strange_names_among_numbers_are_fields_and_names_of_records_are_data() -> None:
    quote = {"price": 227.16, "percent_change": 0.17, "volume": 2.552, "MA(5)": 227.11}
    assert not is_keyed(quote)
    assert ("price",) in {pattern for pattern, value in places(quote) if value == 227.16}
    assert is_keyed({"report.pdf": {"type": "file"}, "archive": {"type": "directory"}, "tmp": {}})
    assert is_keyed({"12446": 3, "12447": 4})
