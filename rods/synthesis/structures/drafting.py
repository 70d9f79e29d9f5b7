"""What an executed plan becomes once its words are there: a task, and what it claims to be."""

from __future__ import annotations

from collections.abc import Sequence

from rods.structure.proposal import Proposal
from rods.synthesis.contracts import Draft, Execution
from rods.synthesis.structures.base_form import split_profile
from rods.synthesis.wording.brief import Brief
from rods.synthesis.wording.gaps import Gap, trace_with_gap
from rods.synthesis.wording.spoken import fill
from rods.types import Task, ToolCall, Turn


def draft_of(
    execution: Execution, brief: Brief, templates: Sequence[str], gap: Gap | None = None
) -> Draft:
    """The plan's task in these words; with a gap, one turn more supplies what is left out."""
    proposal = execution.plan.proposal
    assert proposal is not None
    texts = [fill(template, brief.spellings) for template in templates]
    substitutions = {f"{{{label}}}": text for label, text in brief.spellings.items()}
    if gap is None:
        task = _task_of(execution, proposal, texts, execution.reference)
        trace, expected = execution.trace, proposal.profile
        return Draft(task, execution, expected, claimed=trace, substitutions=substitutions)
    calls = execution.reference
    task = _task_of(execution, proposal, texts, (*calls[: gap.turn], (), *calls[gap.turn :]))
    return Draft(
        task=task.model_copy(update={"kind": "miss_param"}),
        execution=execution,
        expected=split_profile(proposal.profile, gap.turn, "miss_param"),
        edit=gap.edit,
        claimed=trace_with_gap(execution.trace, gap),
        substitutions=substitutions,
    )


def _task_of(
    execution: Execution,
    proposal: Proposal,
    texts: Sequence[str],
    reference: Sequence[tuple[ToolCall, ...]],
) -> Task:
    seed = execution.plan.blueprint.task
    turns = tuple(
        Turn(user=text, reference=calls) for text, calls in zip(texts, reference, strict=True)
    )
    return Task(
        id=seed.id,
        environment=seed.environment,
        kind="base",
        split="train",
        tools=proposal.tools,
        turns=turns,
        initial_state=execution.initial_state,
        origin="synthetic",
        parent_id=seed.id,
        generation=seed.generation + 1,
    )
