"""The verdict on a trajectory: each turn by what it changed.

``rods.scoring.replay_score`` compares whole states, so one mistake spoils every later turn. Here a
turn passes when its own change equals the change of the reference's turn, and, where the reference
changes nothing, when the reference's last result was shown in this very turn. Every turn then
carries its own signal, a result seen turns ago earns nothing, and the lookups on the way are free.
"""

from __future__ import annotations

from rods.types import EmptyTurnRule, ProgressReward, Step, Task, Trajectory, Turn, TurnVerdict
from rods_office.session import OfficeSession
from rods_office.state import Delta


def score_by_delta(
    task: Task, trajectory: Trajectory, empty_turns: EmptyTurnRule = "abstain"
) -> ProgressReward:
    """One verdict for every turn of the task; turns that were not reached fail.

    Asking for a tool that is not handed over yet counts as acting, though the world never sees the
    call: where nothing is to be done, trying is not abstaining.
    """
    reference, replay = OfficeSession(task.initial_state), OfficeSession(task.initial_state)
    verdicts = []
    for index, turn in enumerate(task.turns):
        steps = trajectory.turns[index] if index < len(trajectory.turns) else ()
        wanted, needed = _reference_turn(reference, turn)
        changed, shown = _replayed_turn(replay, steps)
        verdicts.append(
            TurnVerdict(
                state_ok=index < len(trajectory.turns) and changed == wanted,
                response_ok=needed is None or needed in shown,
                judged=bool(turn.reference),
                acted=any(step.message.calls for step in steps),
            )
        )
    return ProgressReward(verdicts=tuple(verdicts), empty_turns=empty_turns)


def _reference_turn(session: OfficeSession, turn: Turn) -> tuple[Delta, str | None]:
    """What the reference changes, and the result that must be shown if that is nothing."""
    before = session.snapshot()
    results = [session.call(call).content for call in turn.reference]
    changed = session.changes(before)
    return changed, results[-1] if results and not changed else None


def _replayed_turn(session: OfficeSession, steps: tuple[Step, ...]) -> tuple[Delta, set[str]]:
    """What the policy changed, and the results that it was shown."""
    before = session.snapshot()
    results = [session.call(call) for step in steps for call in step.executed]
    shown = {result.content for result in results if not result.error}
    return session.changes(before), shown
