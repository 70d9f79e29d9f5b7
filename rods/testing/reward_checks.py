"""Checks of the reward: what earns 1, and what must earn nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from rods.errors import WorldError
from rods.testing.agents import Agent, idle, play, random_calls, reference, silent
from rods.testing.findings import FLAG_IT, IDLE, Finding, Subject, for_each, listed
from rods.types import (
    AssistantMessage,
    ProgressReward,
    Rollout,
    Task,
    ToolCall,
    Trajectory,
    content_id,
)

_LUCK = 0.05  # mean progress above which random calls are more than luck


def reference_scores_one(subject: Subject) -> str:
    """The reference, played message by message, passes every turn."""
    return for_each(
        subject.sample, lambda task: _not_one(subject, task, reference), FLAG_IT, excuse=True
    )


def every_turn_has_a_verdict(subject: Subject) -> str:
    """A rollout that ends after its first turn has a verdict for every turn, and no full score."""

    def generous(task: Task) -> str | None:
        reward = _reward(play(subject.environment, task, _first_turn_only))
        if len(reward.verdicts) != len(task.turns):
            return f"{len(reward.verdicts)} verdicts for {len(task.turns)} turns"
        later = any(turn.reference for turn in task.turns[1:])
        return "an unfinished rollout scores 1" if later and reward.solved else None

    return for_each(subject.sample, generous)


def an_empty_rollout_earns_nothing(subject: Subject) -> str:
    """No turns at all: no judged turn passes."""

    def generous(task: Task) -> str | None:
        reward = subject.environment.score(task, Trajectory(task_id=task.id, turns=()))
        return "an empty trajectory passes a turn" if _passed(reward) else None

    return for_each(subject.sample, generous)


def scoring_repeats(subject: Subject) -> str:
    """The same trajectory, scored again after others and read from JSON, earns the same."""
    rollouts = [play(subject.environment, task, reference) for task in subject.sample]
    again = [Rollout.model_validate_json(r.model_dump_json()) for r in rollouts]
    pairs = {task.id: (a, b) for task, a, b in zip(subject.sample, rollouts, again, strict=True)}

    def differs(task: Task) -> str | None:
        first, second = pairs[task.id]
        if first != second:
            return "the rollout differs after a JSON round trip"
        score = subject.environment.score(task, second.trajectory)
        return None if score == first.reward else f"{first.reward} became {score}"

    return for_each(reversed(subject.sample), differs)


def silence_earns_nothing(subject: Subject) -> str:
    """An agent that never calls passes no turn that has something to do."""
    share = _share(subject, silent)
    if share.passing:
        raise Finding(
            f"{share}: {listed(share.passing, share.tasks)}",
            f"drop these tasks, or flag them {IDLE!r} and keep them out of train: an idle policy "
            "would be rewarded",
        )
    return str(share)


def idling_solves_nothing(subject: Subject) -> str:
    """An agent that makes one empty call a turn solves no task: no turn's goal holds already."""
    return _lucky(_share(subject, idle), "the goal of a turn must not hold before the turn")


def random_calls_solve_nothing(subject: Subject) -> str:
    """Random well-formed calls solve no task and earn next to nothing."""
    fix = (
        "let the goal hang on what a guess will not hit: more entities in the world, wider ranges, "
        "an id that only an earlier result tells (more turns alone do not help)"
    )
    return _lucky(_share(subject, random_calls(subject.specs)), fix)


def hidden_tools_come_with_reveals(subject: Subject) -> str:
    """A tool of ``reveals`` is refused before its turn, and the refused call costs nothing."""
    hiding = [task for task in subject.sample if any(turn.reveals for turn in task.turns)]

    def leaky(task: Task) -> str | None:
        hidden = [name for turn in task.turns[1:] for name in turn.reveals]
        early = [name for name in hidden if name in task.tools_at(0)]
        if early or not hidden:
            return f"{', '.join(early) or 'what turn 0 reveals'} is there from the start"
        return _not_one(subject, task, _calls_early(hidden[0]))

    return for_each(hiding, leaky, FLAG_IT, excuse=True) if hiding else "no task hides a tool"


def practice_repeats(subject: Subject) -> str:
    """``practice`` repeats for a seed, stays off the eval split, and its references score 1."""
    first, second = (list(islice(subject.environment.practice(3), 8)) for _ in range(2))
    if first != second:
        raise Finding("practice(3) gives other tasks when asked twice.", "seed its random")
    held_out = {content_id(task) for task in subject.tasks["eval"]}

    def wrong(task: Task) -> str | None:
        if content_id(task) in held_out:
            return "stands in the eval split"
        return _not_one(subject, task, reference)

    return (
        for_each(first, wrong, FLAG_IT, excuse=True) if first else "none: there are no train tasks"
    )


# ------------------------------------------------------------------------------- inside
class _Share:
    """What an agent earned over the sample under the rule ``judged``."""

    def __init__(self, plays: dict[str, Rollout], excused: int) -> None:
        rewards = {name: _reward(rollout) for name, rollout in plays.items()}
        self.tasks, self.excused = len(rewards), excused
        self.mean = sum(r.under("judged") for r in rewards.values()) / max(1, self.tasks)
        self.passing = {n: _lucky_turn(plays[n], r) for n, r in rewards.items() if _passed(r)}
        self.solved = {
            n: f"solved; {self.passing.get(n, '')}" for n, r in rewards.items() if r.solved
        }

    def __str__(self) -> str:
        shown = f"mean progress {self.mean:.3f}, {len(self.solved)} of {self.tasks} tasks solved"
        return shown + (f"; {self.excused} more are flagged {IDLE!r}" if self.excused else "")


def _share(subject: Subject, agent: Agent) -> _Share:
    """What the agent earns; tasks flagged ``idle`` are left out, for doing nothing solves them."""
    judged = [task for task in subject.sample if IDLE not in task.flags]
    plays = {task.id: play(subject.environment, task, agent) for task in judged}
    return _Share(plays, len(subject.sample) - len(judged))


def _lucky_turn(rollout: Rollout, reward: ProgressReward) -> str:
    """Which turn passes, and by which calls."""
    turn = next(i for i, v in enumerate(reward.verdicts) if v.judged and v.ok)
    steps = rollout.trajectory.turns[turn] if turn < len(rollout.trajectory.turns) else ()
    calls = [f"{c.name}({json.dumps(c.arguments)[:60]})" for step in steps for c in step.executed]
    return f"turn {turn} passes with {', '.join(calls) or 'no call'}"


def _lucky(share: _Share, fix: str) -> str:
    if share.solved:
        raise Finding(f"{share}: {listed(share.solved, share.tasks)}", fix)
    if share.mean > _LUCK:
        raise Finding(f"{share}, more than {_LUCK}: {listed(share.passing, share.tasks)}", fix)
    return str(share)


def _not_one(subject: Subject, task: Task, agent: Agent) -> str | None:
    rollout = play(subject.environment, task, agent)
    reward = _reward(rollout)
    if rollout.trajectory.stop != "completed":
        return f"the rollout stops with {rollout.trajectory.stop!r}"
    if reward.solved and reward.under("judged") == 1.0:
        return None
    wrong = [i for i, v in enumerate(reward.verdicts) if v.judged and not v.ok]
    first = reward.verdicts[wrong[0]]
    return f"turn {wrong[0]} fails (state_ok={first.state_ok}, response_ok={first.response_ok})"


def _reward(rollout: Rollout) -> ProgressReward:
    if rollout.reward is None:
        raise WorldError(rollout.trajectory.error or "an outage")
    return rollout.reward


def _passed(reward: ProgressReward) -> bool:
    return any(v.judged and v.ok for v in reward.verdicts)


def _first_turn_only(task: Task) -> Iterator[AssistantMessage]:
    for message in reference(task):
        yield message
        if not message.calls:
            return


def _calls_early(hidden: str) -> Agent:
    """The reference, but its first turn tries a tool that is not handed over yet."""

    def agent(task: Task) -> Iterator[AssistantMessage]:
        wanted = [c for turn in task.turns for c in turn.reference if c.name == hidden]
        tried = wanted[0] if wanted else ToolCall(name=hidden)
        yield AssistantMessage(calls=(tried,))
        yield from reference(task)

    return agent
