"""Which values count as free, in a shop where nothing is suggested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rods.interfaces import Environment
from rods.structure.constants import constants
from rods.structure.sources import Labeller
from rods.structure.trace import replay
from rods.synthesis.finding import SlotFinder
from rods.synthesis.slots import Slot, Style
from rods.types import JsonValue, Task


def found(environment: Environment, tables: dict[str, dict[str, str]] | None = None) -> list[Slot]:
    """The candidates of the only seed."""
    (seed,) = environment.tasks("train")
    trace = replay(environment, seed)
    known = constants(environment.tools())
    sources = Labeller(known, tables).label(seed, trace)
    return list(SlotFinder(environment, tables or {}).find(seed, trace, sources))


def saying(shop: Any, first: str) -> Environment:
    """The shop with another first sentence."""
    seed: Task = shop().tasks("train")[0]
    turns = (seed.turns[0].model_copy(update={"user": first}), *seed.turns[1:])
    return shop(seed.model_copy(update={"turns": turns}))  # type: ignore[no-any-return]


def test_the_candidates_of_the_shop(shop: Any) -> None:
    slots = {slot.value: slot.style for slot in found(shop())}
    assert slots["desk_lamp"] is Style.NAME
    assert slots["Alice"] is Style.NAME
    assert slots["USR001"] is Style.NAME
    assert slots[12] is Style.NUMBER
    assert slots[19.5] is Style.NUMBER
    assert "order-4711" not in slots  # it follows from the result
    assert "items" not in slots


def test_a_sentence_changes_through_the_names_in_it(shop: Any) -> None:
    assert "The desk_lamp is paid." not in {slot.value for slot in found(shop())}


def test_other_spellings_of_a_name_belong_to_it(shop: Any) -> None:
    user = "Look up the 'desk_lamp' and buy 12. Desk lamps are nice, a desk lamp is nicer."
    (lamp,) = [slot for slot in found(saying(shop, user)) if slot.value == "desk_lamp"]
    assert lamp.spellings == ("desk_lamp", "desk lamp")


@pytest.mark.parametrize(
    "user",
    [
        "Look up the DESK_lamp or 'desk_lamp' and buy 12.",  # a case that no spelling covers
        "Look up my lamp (desk_lamp) and buy 12.",  # the words before say the same
    ],
)
def test_a_name_that_is_said_otherwise_too_is_left_alone(shop: Any, user: str) -> None:
    assert "desk_lamp" not in {slot.value for slot in found(saying(shop, user))}


def test_a_number_glued_to_a_unit_is_left_alone(shop: Any) -> None:
    user = "Look up the 'desk_lamp', 12V, and buy 12."
    assert 12 not in {slot.value for slot in found(saying(shop, user))}


def test_numbers_that_add_up_are_left_alone(shop: Any) -> None:
    user = "Look up the 'desk_lamp' and buy 12: 5 for me, 7 for Bob."
    assert 12 not in {slot.value for slot in found(saying(shop, user))}


class Suggesting:
    """Mixed into the shop: what it suggests for items."""

    suggestions: Sequence[JsonValue] = ()

    def suggest(self, tool: str, parameter: str, state: Any) -> Sequence[JsonValue]:
        return self.suggestions if parameter == "item" else ()


def suggesting(shop: Any, *values: str) -> Environment:
    kind = type("SuggestingShop", (Suggesting, shop), {"suggestions": values})
    return kind()  # type: ignore[no-any-return]


def test_one_suggestion_fixes_a_value_and_several_close_it(shop: Any) -> None:
    fixed = {slot.value for slot in found(suggesting(shop, "anything"))}
    assert "desk_lamp" not in fixed
    (closed,) = [s for s in found(suggesting(shop, "sofa", "mirror")) if s.value == "desk_lamp"]
    assert closed.style is Style.CLOSED
    assert closed.choices == ("sofa", "mirror")


def test_a_place_and_its_code_change_together(shop: Any) -> None:
    """The user says the place, the argument is its code: both come from the world's table."""
    tables = {"code_of": {"standing light": "desk_lamp", "looking glass": "mirror"}}
    environment = saying_and_suggesting(shop, "Look up the standing light and buy 12.")
    (slot,) = [s for s in found(environment, tables) if s.value == "desk_lamp"]
    assert slot.links["standing light"]["mirror"] == "looking glass"


def saying_and_suggesting(shop: Any, user: str) -> Environment:
    environment = suggesting(shop, "mirror", "desk_lamp")
    (seed,) = saying(shop, user).tasks("train")
    environment._tasks["train"] = [seed]  # type: ignore[attr-defined]
    return environment


def test_a_date_moves_with_all_its_spellings_unless_the_calendar_is_named(shop: Any) -> None:
    seed: Task = shop().tasks("train")[0]
    last = seed.turns[2]
    call = last.reference[1].model_copy(
        update={"arguments": {"receiver_id": "USR001", "text": "2026-11-25"}}
    )
    for said, free in (
        ("Tell Alice the date: November 25th, 2026.", True),
        ("Tell Alice the date: Friday, November 25th, 2026.", False),
        ("Tell Alice the date, November 25th, 2026, and to come on the 25th.", False),
    ):
        turn = last.model_copy(update={"user": said, "reference": (last.reference[0], call)})
        environment = shop(seed.model_copy(update={"turns": (*seed.turns[:2], turn)}))
        dates = [slot for slot in found(environment) if slot.style is Style.DATE]
        assert bool(dates) == free, said
        if free:
            assert dates[0].spellings == ("2026-11-25", "November 25th, 2026")
