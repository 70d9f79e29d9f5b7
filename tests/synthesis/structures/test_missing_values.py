"""A value that is left out is truly absent, comes in the next message, and costs no call more."""

from __future__ import annotations

from typing import Any

import pytest

from rods.interfaces import Environment
from rods.structure.sources import said
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.structures.assistant import Blurred
from rods.synthesis.wording.blurring import problem
from rods.types import Task, ToolCall, Turn

from .conftest import Model, field
from .test_new_structures import score
from .test_with_models import ask, calls, only

LEFT_OUT = {"augment": {"miss_param": 1.0}}


def missing(task: Task) -> tuple[int, str]:
    """The turn that asks in vain, and the value that it lacks."""
    assert task.provenance is not None
    kind, turn, parameter = task.provenance.edit.split(":")
    assert (kind, task.kind, task.turns[int(turn)].reference) == ("miss_param", "miss_param", ())
    later = task.turns[int(turn) + 1]
    values = {str(c.arguments[parameter]) for c in later.reference if parameter in c.arguments}
    (value,) = [value for value in values if said(value, later.user, later.user, ())]
    return int(turn), value


def silent_about(task: Task, value: str, turn: int) -> bool:
    return not any(said(value, t.user, t.user.casefold(), ()) for t in task.turns[: turn + 1])


def spoilt(request: str) -> dict[str, Any]:
    """The writer's good answer, but the message that must not tell the value tells it."""
    requests = [entry.partition(": ")[2] for entry in field(request, "requests")]
    told = next(i for i, text in enumerate(requests) if text.startswith("only tell"))
    requests[told - 1] += requests[told]
    return {"messages": requests, "texts": []}


def by_augment_alone(model: Model) -> None:
    config = LmConfig.model_validate({"augment": {"model": "scripted"}, "stages": ()})
    model.models = LanguageModels.scripted(model.engine, config)


def test_the_writer_leaves_the_value_out_within_three_calls(
    build: Any, office: Environment
) -> None:
    for index in (1, 2):
        model = Model()
        candidate = only(ask(build(model, **LEFT_OUT), index))
        assert model.asked == ["choose", "write", "judge"]
        assert calls(candidate) == 3
        turn, value = missing(candidate.task)
        assert silent_about(candidate.task, value, turn)
        assert score(office, candidate.task) == 1


def test_the_judge_sees_the_task_after_its_augmentation(build: Any) -> None:
    for kind, shown in (("miss_param", "a value is left out"), ("miss_func", "is handed over")):
        model = Model()
        candidate = only(ask(build(model, augment={kind: 1.0})))
        assert candidate.task.kind == kind
        assert model.asked == ["choose", "write", "judge"]
        asked = field(model.engine.requests[-1], "calls")
        assert sum(f"nothing yet: {shown}" in text or shown in text for text in asked) == 1
        assert field(model.engine.requests[-1], "messages") == [
            t.user for t in candidate.task.turns
        ]


def test_a_message_that_tells_the_value_is_written_again(build: Any) -> None:
    model = Model(write=[spoilt, None])
    candidate = only(ask(build(model, **LEFT_OUT)))
    assert model.asked == ["choose", "write", "write", "judge"]
    assert "left out there and told in message" in model.engine.requests[2]
    turn, value = missing(candidate.task)
    assert silent_about(candidate.task, value, turn)


def test_the_augment_stage_alone_asks_once(build: Any, office: Environment) -> None:
    model = Model()
    by_augment_alone(model)
    candidate = only(ask(build(model, **LEFT_OUT)))
    assert model.asked == ["blur"]
    turn, value = missing(candidate.task)
    assert silent_about(candidate.task, value, turn)
    assert candidate.task.turns[turn + 1].user == f"oh yes it is {value}"
    assert score(office, candidate.task) == 1


@pytest.mark.parametrize("answer", ["no json", {"request": "all but {value}", "supply": "{value}"}])
def test_a_pair_that_breaks_a_rule_gives_way_to_the_plain_edit(build: Any, answer: Any) -> None:
    model = Model(blur=[answer] * 4)
    by_augment_alone(model)
    candidate = only(ask(build(model, **LEFT_OUT)))
    turn, value = missing(candidate.task)
    assert silent_about(candidate.task, value, turn)
    assert candidate.task.turns[turn + 1].user.endswith(f" is {value}.")


def test_a_redraw_of_a_blurred_task_asks_no_model(build: Any) -> None:
    model = Model()
    one = build(model, **LEFT_OUT)
    candidate = only(ask(one))
    redrawn = one.redraw(candidate.task, rng_seed=1)
    assert len(model.asked) == 3
    assert redrawn is not None
    assert redrawn.kind == "miss_param"
    assert missing(candidate.task)[0] == next(
        i for i, t in enumerate(redrawn.turns) if not t.reference
    )


ASKED = Turn(
    user="book 3 seats for Alice",
    reference=(ToolCall(name="book_seats", arguments={"n": 3, "name": "Alice"}),),
)


@pytest.mark.parametrize(
    ("request_", "supply", "wrong"),
    [
        ("book seats for Alice", "{value} please", ""),
        ("book three seats for Alice", "{value} please", "still tells"),
        ("book 3 seats for Alice", "{value} please", "still tells"),
        ("", "{value} please", "still tells"),
        ("book seats", "{value} please", "lacks 'Alice'"),
        ("book seats for Alice", "as many as you like", "does not tell"),
        ("book seats for Alice", "{value}, {value}!", "does not tell"),
        ("book_seats for Alice", "{value} please", "do not know book_seats"),
    ],
)
def test_absent_then_present_and_all_else_stays(request_: str, supply: str, wrong: str) -> None:
    found = problem(Blurred(request_, supply), ASKED, "3", {"book_seats"})
    assert wrong in found
    assert bool(found) == bool(wrong)
