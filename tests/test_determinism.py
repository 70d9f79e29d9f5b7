"""Chance and time inside a context are the session's own; outside they are the real ones."""

from __future__ import annotations

import datetime
import random
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import ModuleType
from typing import Any

import numpy
import pytest

from rods.determinism import NOON, Determinism, active, follow, following, stand_still


def drawn() -> tuple[Any, ...]:
    """One of each thing that differs from run to run."""
    mixed = list(range(5))
    random.shuffle(mixed)
    numbers = (random.random(), random.randint(0, 10**9), random.choice("abcdefgh"), *mixed)
    arrays = (*numpy.random.rand(2), *numpy.random.default_rng().integers(0, 10**9, 2))
    return (*numbers, *arrays, uuid.uuid4(), uuid.uuid1(), time.time(), time.time_ns())


def test_equal_seeds_give_equal_things_and_others_give_others() -> None:
    seen = []
    for seed in ("task-1", "task-1", "task-2"):
        with Determinism(seed):
            seen.append(drawn())
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[2][0]
    assert seen[0][-4] != seen[2][-4]


def test_the_streams_go_on_where_the_last_call_left_them() -> None:
    whole, parts = Determinism(3), Determinism(3)
    with whole:
        wanted = [random.random() for _ in range(4)]
    got = []
    for _ in range(4):
        with parts:
            got.append(random.random())
        random.random()  # what happens outside takes nothing from it
    assert got == wanted


def test_a_snapshot_holds_chance_uuids_and_clock() -> None:
    fixed = Determinism(3)
    with fixed:
        drawn()
        snapshot = fixed.snapshot()
        wanted = drawn()
        fixed.advance(60)
        for _ in range(2):
            fixed.restore(snapshot)
            assert drawn() == wanted


def test_the_modules_are_as_they_were_after_the_last_exit() -> None:
    def names() -> list[Any]:
        return [vars(m).copy() for m in (random, time, uuid, numpy.random)]

    def fail() -> None:
        with Determinism(1), Determinism(2):
            assert random.random is not before[0]["random"]
            raise KeyError

    before = names()
    with pytest.raises(KeyError):
        fail()
    assert names() == before
    assert active() is None


def test_a_patch_that_somebody_makes_inside_is_left_alone() -> None:
    real = time.time
    with Determinism(1):
        time.time = lambda: 5.0
    patched, time.time = time.time, real
    assert patched() == 5.0


def test_the_inner_context_counts() -> None:
    with Determinism(1) as outer, Determinism(2) as inner:
        assert active() is inner
        assert random.random() == Determinism(2).random.random()
        with Determinism(3):
            pass
        assert active() is inner
    with outer:
        assert random.random() == Determinism(1).random.random()


def test_the_clock_stands_still_until_it_is_moved() -> None:
    with Determinism(1) as fixed:
        assert time.time() == time.time() == NOON.timestamp()
        shown = (time.ctime(), time.asctime(), time.strftime("%H:%M"), time.localtime().tm_hour)
        assert shown == ("Thu Jan  1 12:00:00 2026",) * 2 + ("12:00", 12)
        assert time.gmtime(0).tm_year == 1970
        assert time.strftime("%Y", time.gmtime(0)) == "1970"
        fixed.advance(3600)
        assert time.gmtime().tm_hour == 13
        time.sleep(0.001)
        assert time.time() == pytest.approx(NOON.timestamp() + 3600.001)
    assert abs(time.time() - datetime.datetime.now().timestamp()) < 60


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        Determinism(1, datetime.datetime(2026, 1, 1))


# ------------------------------------------------------------------------------- threads
def test_sessions_in_many_threads_draw_as_each_does_alone() -> None:
    def play(seed: int) -> list[tuple[Any, ...]]:
        fixed, seen = Determinism(seed), []
        for _ in range(20):
            with fixed:
                seen.append(drawn())
        return seen

    alone = [play(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, range(16))) == alone


def test_a_thread_outside_has_the_real_clock_and_real_chance() -> None:
    seen: list[Any] = []

    def outside() -> None:
        seen.append((time.time(), uuid.uuid4(), active()))

    with Determinism(1):
        expected = Determinism(1).uuid()
        thread = threading.Thread(target=outside)
        thread.start()
        thread.join()
    now, made, context = seen[0]
    assert context is None
    assert now > NOON.timestamp()
    assert made != expected


def test_a_thread_in_a_copy_of_the_context_is_inside() -> None:
    with Determinism(1) as fixed:
        thread = ThreadPoolExecutor(1)
        context = thread.submit(copy_context().run, active).result()
        thread.shutdown()
    assert context is fixed


# ------------------------------------------------------------------------------- following
CODE = """
import datetime as clock
from datetime import date, datetime
from random import choice
from time import time
from uuid import uuid4
"""


def module() -> Any:
    made = ModuleType("bound_before")
    exec(CODE, vars(made))
    return made


def test_a_module_that_has_bound_names_is_reached_by_following_it() -> None:
    world = module()
    follow(world)
    with Determinism(1):
        assert world.datetime.now() == NOON.replace(tzinfo=None)
        assert world.datetime.now(datetime.UTC) == world.clock.datetime.now(datetime.UTC) == NOON
        assert world.date.today() == world.clock.date.today() == NOON.date()
        assert world.time() == NOON.timestamp()
        drawn_here = (world.choice(range(10**9)), world.uuid4())
    with Determinism(1):
        assert (random.choice(range(10**9)), uuid.uuid4()) == drawn_here
    assert world.datetime.now() > NOON.replace(tzinfo=None)


def test_followed_classes_are_taken_for_the_real_ones() -> None:
    world = module()
    with following([world]):
        made = world.datetime(2020, 2, 3, 4)
        assert type(made) is datetime.datetime
        assert isinstance(made, world.datetime)
        assert isinstance(made, world.date)
        assert issubclass(datetime.datetime, world.datetime)
        assert world.datetime.strptime("2020", "%Y") == datetime.datetime(2020, 1, 1)
        assert world.clock.timedelta is datetime.timedelta
    assert world.datetime is datetime.datetime
    assert world.clock is datetime


# ------------------------------------------------------------------------------- a standing clock
def test_a_module_told_to_stand_still_shows_one_moment_for_good_in_each_way_it_may_ask() -> None:
    module = ModuleType("upstream")
    module.datetime, module.clock, module.day = datetime, datetime.datetime, datetime.date  # type: ignore[attr-defined]
    noon = datetime.datetime(2024, 5, 15, 12, tzinfo=datetime.UTC)
    stand_still(module, noon)
    naive = noon.replace(tzinfo=None)
    asked: Any = vars(module)
    assert (
        asked["datetime"].datetime.now() == asked["clock"].now() == asked["clock"].today() == naive
    )
    assert asked["clock"].now(datetime.UTC) == noon
    assert asked["day"].today() == asked["datetime"].date.today() == naive.date()
    assert asked["datetime"].timedelta is datetime.timedelta
    with Determinism("another day"):
        assert asked["clock"].now() == naive


def test_what_a_standing_clock_makes_is_a_plain_datetime() -> None:
    module = ModuleType("upstream")
    module.clock = datetime.datetime  # type: ignore[attr-defined]
    stand_still(module, NOON)
    clock = vars(module)["clock"]
    made = (clock.now(), clock(2024, 5, 15), clock.strptime("2024", "%Y"))
    assert {type(one) for one in made} == {datetime.datetime}
    assert all(isinstance(one, clock) for one in made)
    assert datetime.datetime.now() != clock.now()  # no other module's clock stands


def test_a_standing_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        stand_still(ModuleType("upstream"), datetime.datetime(2024, 5, 15))
