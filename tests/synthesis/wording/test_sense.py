"""What a small model writes is a request, or the phrases' sentence takes its place."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rods.synthesis.reasons import Reason
from rods.synthesis.wording.brief import Brief, BriefCall
from rods.synthesis.wording.sense import Sense, stem, stems
from rods.types import Phrase, ToolCall, ToolSpec

SPECS: Mapping[str, ToolSpec] = {
    name: ToolSpec(name=name, description=text, parameters={"type": "object"})
    for name, text in {
        "delete_file": "Deletes a file.",
        "check_tires": "Check the tire pressure of the car.",
        "get_zip": "Get the postal code of a city.",
        "distance": "Tells how far two cities are apart.",
    }.items()
}
SENSE = Sense(
    SPECS,
    lambda name: Phrase(says=("remove {name}",)) if name == "delete_file" else None,
    lambda: ["Could you check my tires?", "How far is it to Rivermist?", "Delete the report."],
)


def brief(*names: str, takes: Mapping[str, int] | None = None) -> Brief:
    last = len(names) - 1
    calls = [
        BriefCall(ToolCall(name=n), 0, {}, {}, dict(takes or {}) if i == last else {}, {})
        for i, n in enumerate(names)
    ]
    return Brief(1, calls)


def faults(
    text: str, *names: str, asked: str = "", takes: Mapping[str, int] | None = None
) -> set[Reason]:
    return {f.reason for f in SENSE.faults(brief(*names, takes=takes), 0, text, asked)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The user who requested the request has requested it.", Reason.REPETITION),
        ("Check the tires. Check the tires. Check the tires.", Reason.REPETITION),
        ("Check the tires&&&&&&&&&", Reason.REPETITION),
        ("no; no; no; no; no; tires", Reason.REPETITION),
        ("The request was to check the tires.", Reason.LEAK),
        ("Check the tires with `check -a`.", Reason.LEAK),
        ("Check the tires of {{v1}}.", Reason.LEAK),
        ("Check the tires.\n\nExample of a check:", Reason.LEAK),
        ("tires", Reason.WRONG_LENGTH),
        (" ".join(f"word{n}" for n in range(80)), Reason.WRONG_LENGTH),
        ("Könnten Sie bitte den Reifendruck meines Autos prüfen?", Reason.FOREIGN_WORDS),
        ("I'm sorry, I am here to help you with that.", Reason.CALL_UNSAID),
        ("Please tell me the way to you.", Reason.CALL_UNSAID),
        ("The pressure of the tires is fine.", Reason.CALL_UNSAID),
        ("You can check the tires.", Reason.CALL_UNSAID),
        ("I can check the tires.", Reason.CALL_UNSAID),
        ("I'm currently at the tires.", Reason.CALL_UNSAID),
        ("I'm here to help with the tires, please.", Reason.CALL_UNSAID),
        ("Sure, would you check the tires?", Reason.CALL_UNSAID),
        ("I'd be happy to check the tires, please.", Reason.CALL_UNSAID),
        ("Yes, the tires are fine.", Reason.CALL_UNSAID),
        ("To give my answer, I need to know the tires.", Reason.CALL_UNSAID),
    ],
)
def test_nonsense_is_told_by_its_kind(text: str, reason: Reason) -> None:
    assert reason in faults(text, "check_tires")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Could you check the pressure of the tires, please?", ("check_tires",)),
        ("I'd like my tires looked at.", ("check_tires",)),
        ("The tires, please: how is their pressure?", ("check_tires",)),
        ("I'm unable to drive to work. Could you check the tires?", ("check_tires",)),
        ("Please remove {v1}.", ("delete_file",)),
        ("Deleting the file {v1} would be good.", ("delete_file",)),
        ("Please delete {v1}, and then have a look at the tires.", ("delete_file", "check_tires")),
    ],
)
def test_a_request_in_other_words_is_sound(text: str, names: tuple[str, ...]) -> None:
    assert faults(text, *names) == set()


def test_every_call_of_the_turn_has_to_be_spoken_of() -> None:
    text = "Please check the tires of the car."
    assert faults(text, "check_tires", "delete_file") == {Reason.CALL_UNSAID}


def test_a_call_whose_result_the_turn_takes_need_not_be_named() -> None:
    text = "How far apart are {v1} and {v2}?"
    assert Reason.CALL_UNSAID in faults(text, "get_zip", "distance")
    assert faults(text, "get_zip", "distance", takes={"city": 0}) == set()


def test_what_the_request_itself_repeats_may_be_repeated() -> None:
    asked = "check the tires; check the tires; check the tires again"
    text = "Check the tires, wait, check them tires, and then those tires."
    assert Reason.REPETITION not in faults(text, "check_tires", asked=asked)
    assert Reason.REPETITION in faults(text, "check_tires")


def test_stems_bring_forms_of_a_word_together() -> None:
    assert len({stem(w) for w in ("delete", "deletes", "deleted", "deleting")}) == 1
    assert len({stem(w) for w in ("copy", "copies", "copied")}) == 1
    assert stems("please show me the orders of that car") == stems("Order car")
