"""A worker that waits for a model does not keep training from redrawing."""

from __future__ import annotations

import threading

from rods.synthesis.turns import Turn


def test_others_get_the_turn_only_while_it_is_given_up() -> None:
    turn, seen = Turn(), threading.Event()

    def other() -> None:
        with turn:
            seen.set()

    thread = threading.Thread(target=other)
    with turn:
        with turn:
            thread.start()
            assert not seen.wait(0.05)
            with turn.given_up():
                assert seen.wait(10)
        seen.clear()
        assert not seen.is_set()
    thread.join(10)


def test_giving_up_a_turn_that_is_not_held_does_nothing() -> None:
    turn = Turn()
    with turn.given_up(), turn:
        pass
    with turn:
        pass
