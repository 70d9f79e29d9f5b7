"""References that the official checker refuses as their own rollouts.

Upstream's post_tweet has a default list of mentions that all tweets of all worlds of a process
share, and mention() fills it. The checker runs rollout and reference in one process, turn by turn:
what the rollout's mention has added is in the results of the reference's tweets, too.
"""

from __future__ import annotations

from typing import Any

from rods.errors import DataError, WorldError
from rods.types import Task, ToolCall
from rods_bfcl.rendering import ERROR_PREFIX
from rods_bfcl.results import Demand, Key, Pool, key_of
from rods_bfcl.upstream import Upstream
from rods_bfcl.world import Scenario, World


def refused_for_a_leak(task: Task, upstream: Upstream) -> str:
    """Which turn of the reference the official checker would refuse; empty: none."""
    if not _may_leak(task):
        return ""
    scenario, shared = Scenario.of(task.initial_state), list[Any]()
    rollout, reference = World(scenario, upstream), World(scenario, upstream)
    pool = Pool()
    for index, turn in enumerate(task.turns):
        for call in turn.reference:
            pool.add(_result(rollout, call, shared))
        demand = Demand([_result(reference, call, shared) for call in turn.reference])
        if not demand.met_by(pool):
            return (
                f"The official checker refuses turn {index} of its own reference: tweets without "
                f"mentions share one list there, which mention() fills."
            )
    return ""


def _may_leak(task: Task) -> bool:
    calls = [call for turn in task.turns for call in turn.reference]
    shares = any(c.name == "post_tweet" and "mentions" not in c.arguments for c in calls)
    return shares and any(call.name == "mention" for call in calls)


def _result(world: World, call: ToolCall, shared: list[Any]) -> Key:
    """The result's key; a tweet without mentions has the list that all such tweets share."""
    try:
        value = world.execute(call.name, call.arguments)
    except (WorldError, DataError):
        raise
    except Exception as error:  # noqa: BLE001 - upstream raises anything for a bad argument
        return f"{ERROR_PREFIX} {error}"
    default = call.name == "post_tweet" and "mentions" not in call.arguments
    if default and isinstance(value, dict) and "mentions" in value:
        value["mentions"] = shared  # the world's own tweet
    return key_of(value)
