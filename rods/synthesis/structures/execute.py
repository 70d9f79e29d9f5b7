"""II. Execute: a proposal's calls in a fresh world, what is bound read from the new results.

Values come from the proposal, which took them from the world; free texts from the fill predictor
where it is asked for, and they are executed like any other value. Where a call fails, the initial
state may be patched, and the plan runs again from a fresh world.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from rods.interfaces import Environment, Session
from rods.structure.leaves import Path, like, parse, read
from rods.structure.planning.patching import patched
from rods.structure.proposal import Patch, PlannedCall, Proposal
from rods.structure.trace import Trace
from rods.synthesis.contracts import ExecuteStage, Execution, Plan, rejection
from rods.synthesis.fresh import Dice
from rods.synthesis.kept import keep
from rods.synthesis.reasons import Reason
from rods.synthesis.slots import Drawn
from rods.synthesis.structures.assistant import Assistant
from rods.synthesis.structures.patching import Failed, StatePatcher
from rods.synthesis.structures.plan import outline
from rods.synthesis.wording.phrases import plain
from rods.types import JsonObject, Rejection, Stage, Task, ToolCall, ToolResult

Hole = tuple[int, str]  # call, parameter
_TITLES = frozenset(("title", "subject", "name", "topic"))
_LONGEST = 200  # characters of a free text


class ProposalRunner(ExecuteStage):
    """Executes plans that have a proposal."""

    def __init__(
        self,
        environment: Environment,
        assistant: Assistant,
        *,
        fills: bool = False,
        patcher: StatePatcher | None = None,
    ) -> None:
        """``fills``: free texts are asked for here; else the writer words them with the rest."""
        self._environment, self._assistant, self._fills = environment, assistant, fills
        self._patcher = patcher

    def execute(self, plan: Plan, rng: random.Random) -> Execution | Rejection:
        """The proposal's reference and results; a rejection names the call that failed."""
        asked = self._fills and self._assistant.helps(Stage.EXECUTE)
        texts = self._filled(plan, rng) if asked else self._drawn(plan, rng)
        made = self._run(plan, texts)
        if isinstance(made, Failed) and self._patcher is not None:
            made = self._patched(self._patcher, plan, texts, made, rng)
        if isinstance(made, Failed):
            return _rejected(plan, made)
        proposal = made.plan.proposal
        if (asked and texts) or (proposal and any(p.by_model for p in proposal.patches)):
            keep(Stage.EXECUTE)
        return made

    def _patched(
        self,
        patcher: StatePatcher,
        plan: Plan,
        texts: Mapping[Hole, str],
        failed: Failed,
        rng: random.Random,
    ) -> Execution | Failed:
        """The execution in a changed world; a change stays where the plan gets further with it."""
        left = patcher.tries
        while left > 0:
            assert plan.proposal is not None
            rules = left - 1 if self._assistant.helps(Stage.EXECUTE) else left
            patches = patcher.patches(failed, plan.proposal.initial_state, rng, rules)
            for patch in islice(patches, left):
                left -= 1
                changed = _with_patch(plan, patch)
                made = self._run(changed, texts)
                if isinstance(made, Execution):
                    return made
                if made.index > failed.index:
                    plan, failed = changed, made
                    break
            else:
                break
        return failed

    def _drawn(self, plan: Plan, rng: random.Random) -> dict[Hole, str]:
        """Harmless texts for the free ones that the environment suggests no values for."""
        proposal, dice = plan.proposal, Dice(rng)
        assert proposal is not None
        drawn: dict[Hole, str] = {}
        for index, parameter in holes(proposal):
            name = proposal.calls[index].call.name
            if not self._environment.suggest(name, parameter, proposal.initial_state):
                titled = _TITLES.intersection(plain(parameter).split())
                drawn[index, parameter] = dice.title() if titled else dice.sentence()
        return drawn

    def run(self, plan: Plan, texts: Mapping[Hole, str]) -> Execution | Rejection:
        """The execution with other free texts in the holes."""
        made = self._run(plan, texts)
        return _rejected(plan, made) if isinstance(made, Failed) else made

    def _run(self, plan: Plan, texts: Mapping[Hole, str]) -> Execution | Failed:
        proposal = plan.proposal
        assert proposal is not None
        session = self._environment.open(opened(plan.blueprint.task, proposal))
        try:
            made = _run(proposal, session, texts)
            if isinstance(made, Failed):
                return made
            calls, results = made
            turn_of = tuple(t for t, turn in enumerate(proposal.turns) for _ in turn)
            trace = Trace(turn_of, calls, results, {}, session.state())
        finally:
            session.close()
        left = iter(calls)
        reference = tuple(tuple(next(left) for _ in turn) for turn in proposal.turns)
        return Execution(plan, proposal.initial_state, reference, trace, Drawn())

    def _filled(self, plan: Plan, rng: random.Random) -> dict[Hole, str]:
        assert plan.proposal is not None
        names = {f"text{n}": hole for n, hole in enumerate(holes(plan.proposal), 1)}
        if not names:
            return {}
        wanted = {n: purpose(plan.proposal, hole) for n, hole in names.items()}
        story = "\n".join(filter(None, (plan.narrative, outline(plan.proposal))))
        key = f"{plan.blueprint.task.id}/{rng.getrandbits(32)}"
        given = self._assistant.fill(key, story, wanted)
        return {names[n]: text for n, text in given.items() if n in names and usable(text)}


def _rejected(plan: Plan, failed: Failed) -> Rejection:
    seed_id = plan.blueprint.task.id
    return rejection(Stage.EXECUTE, Reason.VM_EXEC_FAILED, failed.text, seed_id)


def _with_patch(plan: Plan, patch: Patch) -> Plan:
    proposal = plan.proposal
    assert proposal is not None
    changed = replace(
        proposal,
        initial_state=patched(proposal.initial_state, [patch]),
        patches=(*proposal.patches, patch),
    )
    return replace(plan, proposal=changed)


def opened(seed: Task, proposal: Proposal) -> Task:
    """A task in the proposal's world that offers the proposal's tools; its turns say nothing."""
    return seed.model_copy(
        update={"tools": proposal.tools, "initial_state": proposal.initial_state}
    )


def holes(proposal: Proposal) -> Iterator[Hole]:
    """The free texts of a proposal, in order."""
    for index, planned in enumerate(proposal.calls):
        for parameter in sorted(planned.holes):
            if isinstance(planned.call.arguments.get(parameter), str):
                yield index, parameter


def purpose(proposal: Proposal, hole: Hole) -> str:
    """What a free text is for, with the present one as an example of its form."""
    index, parameter = hole
    call = proposal.calls[index].call
    return f"{plain(parameter)} of {plain(call.name)}, such as {call.arguments[parameter]!r}"


def usable(text: object) -> bool:
    """A short text of one line that holds no placeholder."""
    return (
        isinstance(text, str)
        and 0 < len(text.strip()) <= _LONGEST
        and "\n" not in text.strip()
        and "{" not in text
    )


def with_texts(proposal: Proposal, texts: Mapping[Hole, str]) -> Proposal:
    """The proposal with other free texts."""
    if not texts:
        return proposal
    calls = iter(enumerate(proposal.calls))
    turns = tuple(
        tuple(_with_text(planned, next(calls)[0], texts) for planned in turn)
        for turn in proposal.turns
    )
    return replace(proposal, turns=turns)


def _with_text(planned: PlannedCall, index: int, texts: Mapping[Hole, str]) -> PlannedCall:
    own = {parameter: text for (call, parameter), text in texts.items() if call == index}
    if not own:
        return planned
    arguments = {**planned.call.arguments, **own}
    return replace(planned, call=ToolCall(name=planned.call.name, arguments=arguments))


def _run(
    proposal: Proposal, session: Session, texts: Mapping[Hole, str]
) -> tuple[tuple[ToolCall, ...], tuple[ToolResult, ...]] | Failed:
    """Calls and results, or which call failed and how."""
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    for planned in with_texts(proposal, texts).calls:
        name = planned.call.name
        try:
            call = ToolCall(name=name, arguments=_bound(planned, results))
        except (LookupError, ValueError, TypeError) as error:
            lacks = f"an earlier result does not give its argument: {error!r}"
            return Failed(len(calls), lacks, name)
        result = session.call(call)
        if result.error:
            return Failed(len(calls), result.content, name, call)
        calls.append(call)
        results.append(result)
    return tuple(calls), tuple(results)


def _bound(planned: PlannedCall, results: list[ToolResult]) -> JsonObject:
    arguments: Any = planned.call.arguments
    for bound in planned.bound:
        path = (bound.parameter, *bound.path)
        model = _leaf(arguments, path)
        found = read(parse(results[bound.producer].content), bound.result_path)
        arguments = _put(arguments, path, like(found, model))
    return arguments  # type: ignore[no-any-return]


def _leaf(tree: Any, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _put(tree: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    copied = copy.copy(tree)
    copied[path[0]] = _put(tree[path[0]], path[1:], value)
    return copied
