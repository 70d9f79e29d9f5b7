"""What a run shows: a table in place on a terminal, one line a step elsewhere."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from rods.cli.live import View, counts_text, display, duration, funnel_text, regions_text
from rods.plugin_manager import load_plugins
from rods.pool import PoolStats
from rods.types import PoolState, Regions, StepReport

FUNNEL = {
    "admitted": {"total": 7},
    "plan": {"no_value": 1},
    "critique": {"leak": 3, "no_op": 2, "near": 1},
}


def report(step: int, seconds: float = 2.0, reward: float = 0.5) -> StepReport:
    return StepReport(
        step=step,
        steps=10,
        epoch=(step - 1) // 5,
        reward=reward,
        regions=Regions(hard=1, boundary=5, mastered=2, no_variance=3),
        pool={"active": 31, "candidate": 0, "retired": 4},
        funnel=FUNNEL,
        seconds=seconds,
    )


def shown(*, terminal: bool) -> str:
    """The output of a run of ten steps."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120, height=30)
    plugins = load_plugins([])
    states = {PoolState.ACTIVE: 31, PoolState.CANDIDATE: 2}
    stats = PoolStats(
        states=states, retired={}, injected=3, funnel={}, pending_requests=0,
        synthesis_seconds=0.0, tokens=0,
    )  # fmt: skip
    with display(console, plugins.observe):
        plugins.hook.rods_run_started(folder=Path("runs/x"), config={}, epochs=2, notes=["a note"])
        plugins.hook.rods_progress(what="warm start", done=1, total=4)
        plugins.hook.rods_progress(what="warm start", done=4, total=4)
        for step in range(1, 11):
            if step % 5 == 1:
                plugins.hook.rods_epoch_started(epoch=step // 5, injected=3, retired=1, pool=stats)
            plugins.hook.rods_step_finished(report=report(step, reward=step / 10))
            time.sleep(0.6 if step == 3 and terminal else 0)  # longer than the display's period
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_without_a_terminal_every_step_and_boundary_is_one_plain_line() -> None:
    text = shown(terminal=False)
    lines = text.splitlines()
    assert "\x1b" not in text
    assert lines[:3] == ["Run: runs/x", "Note: a note", "warm start: 4/4"]
    assert lines[3] == "Epoch 1: 3 injected, 1 retired; pool: active 31  candidate 2"
    steps = [line for line in lines if line.startswith("step ")]
    assert len(steps) == 10
    assert len(lines) == 15
    assert steps[3].startswith("step 4/10   epoch 1/2  time 12 s left   2.0 s a step  reward 0.400")


def test_on_a_terminal_the_table_is_refreshed_in_place_and_boundaries_stay() -> None:
    text = shown(terminal=True)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert "\x1b[1A" in text
    assert plain.count("Epoch 2: 3 injected, 1 retired") == 1
    last = plain[plain.rindex("10/10") :]
    for expected in (
        "10/10",
        "hard 1  boundary 5  mastered 2",
        "active 31  retired 4",
        "7 admitted",
    ):
        assert expected in last
    assert "warm start" not in last


def test_a_notice_is_shown_as_soon_as_there_is_one() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, height=30)
    plugins, said = load_plugins([]), [""]
    with display(console, plugins.observe, lambda: said[0]):
        plugins.hook.rods_step_finished(report=report(1))
        assert isinstance(console.file, io.StringIO)
        before = console.file.getvalue()
        said[0] = "patience"
    assert "patience" not in before
    assert "patience" in console.file.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_a_resumed_run_says_with_which_step_it_goes_on(terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120, height=30)
    plugins = load_plugins([])
    with display(console, plugins.observe):
        plugins.hook.rods_run_resumed(step=0)
        plugins.hook.rods_run_resumed(step=4)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "there is no checkpoint yet, so the training begins with step 1." in text
    assert "step 4 is the last that a checkpoint holds; step 5 is next." in text


def test_the_time_left_follows_the_recent_steps() -> None:
    view = View()
    for step in range(1, 31):
        view.take(report(1, seconds=100.0 if step <= 14 else 2.0))
    assert view.seconds_left == pytest.approx(9 * 2.0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min 00 s"), (250, "4 min 10 s"), (3900, "1 h 05 min")],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_funnel_names_the_commonest_reasons() -> None:
    assert funnel_text(FUNNEL) == (
        "7 admitted, 7 rejected (critique/leak 3, critique/no_op 2, plan/no_value 1)"
    )
    assert funnel_text({}) == "0 admitted, 0 rejected"


def test_what_is_unusual_is_shown_only_where_it_happens() -> None:
    assert "unscored" not in regions_text(report(1))
    odd = report(1).model_copy(update={"regions": Regions(unscored=2, format_failures=9)})
    assert regions_text(odd).endswith("unscored 2  cannot parse 9")
    assert counts_text({"active": 0}) == "empty"
