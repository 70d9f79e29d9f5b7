"""No variant stands near an evaluation task."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from rods.synthesis.decontamination import (
    DecontaminationConfig,
    Decontaminator,
    edit_distance,
    shingles,
)
from rods.types import Task, ToolCall, Turn

_SENTENCE = "please take the small wooden box from the shelf and put it on the table"
_WORDS = _SENTENCE.split()


def task(user: str, *values: str, name: str = "t") -> Task:
    calls = tuple(ToolCall(name="use", arguments={"x": value}) for value in values)
    turn = Turn(user=user, reference=calls)
    return Task(id=name, environment="e", tools=("use",), turns=(turn,), initial_state={})


def problem(
    candidate: Task, held_out: Task, train: Sequence[Task] = (), **options: float
) -> str | None:
    config = DecontaminationConfig.model_validate(options)
    return Decontaminator([held_out], train, config).problem(candidate)


def test_equal_calls_are_contaminated_whatever_the_words() -> None:
    found = problem(task("a", "1", "2", "3"), task("b", "1", "2", "3", name="held"))
    assert found is not None
    assert "held" in found


def test_the_threshold_is_a_share_of_the_longer_sequence() -> None:
    held_out = task("", *map(str, range(8)))
    one_edit = task("", *map(str, range(7)), "x")
    assert problem(one_edit, held_out) is not None  # 1 of 8
    assert problem(one_edit, held_out, min_call_distance=0.125) is None
    assert problem(task("", "0", "1", "x", "y"), held_out) is None


def test_at_threshold_zero_equal_calls_still_count() -> None:
    assert problem(task("", "1", "2"), task("", "1", "2"), min_call_distance=0.0) is not None
    assert problem(task("", "1", "3"), task("", "1", "2"), min_call_distance=0.0) is None


def test_the_same_calls_in_another_order_are_contaminated() -> None:
    assert problem(task("", "1", "2", "3", "4"), task("", "4", "3", "2", "1")) is not None


def test_a_value_that_only_evaluation_uses_is_contaminated() -> None:
    held_out = task("", "zephyrine", "a", "b", "c")
    candidate = task("", "Zephyrine", "d", "e", "f")
    assert problem(candidate, held_out) is not None
    assert problem(candidate, held_out, max_shared_values=1) is None
    known = task("", "zephyrine")
    assert problem(candidate, held_out, train=[known]) is None
    config = DecontaminationConfig()
    assert Decontaminator([held_out], [], config, ["Zephyrine"]).problem(candidate) is None


def test_near_equal_words_are_contaminated() -> None:
    held_out = task(" ".join(_WORDS))
    assert problem(task(" ".join(_WORDS[:-1])), held_out) is not None
    assert problem(task("another request that has nothing at all in common"), held_out) is None


def test_sentences_of_train_seeds_tell_nothing() -> None:
    sentence = " ".join(_WORDS)
    assert problem(task(sentence), task(sentence), train=[task(sentence)]) is None


def test_a_task_without_calls_or_words_is_clean() -> None:
    assert problem(task(""), task("", "1")) is None


@given(st.text("ab", max_size=6), st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_edit_distance_is_a_metric(a: str, b: str, c: str) -> None:
    ab, bc, ac = (edit_distance(list(x), list(y)) for x, y in ((a, b), (b, c), (a, c)))
    assert (ab == 0) == (a == b)
    assert ab == edit_distance(list(b), list(a))
    assert ac <= ab + bc
    assert ab >= abs(len(a) - len(b))


def test_shingles_ignore_case_and_punctuation() -> None:
    one, two = (
        Turn(user=u) for u in ("One, two three four five six", "one two THREE four five six!")
    )
    assert shingles(one) == shingles(two)
    assert len(shingles(one)) == 2
