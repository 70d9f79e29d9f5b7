"""The options of the planner."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rods.interfaces import ComponentConfig

Strictness = Literal["exact", "edges", "loose"]


class PlanningOptions(ComponentConfig):
    """What counts as the seed's structure, how far to search, and what is kept out."""

    strictness: Strictness = Field(
        "exact",
        description="exact: turns, calls a turn, sources of every call, data edges and hard state "
        "edges are the seed's; edges: sources may differ; loose: turns, calls a turn and depth.",
    )
    effort: int = Field(120, ge=1, description="Plans that are tried in the world for a seed.")
    patience: int = Field(
        20,
        ge=1,
        description="Plans tried in a row without a new one that end the search; three times as "
        "many before a seed's first plan, half as many once it has fallback_below plans.",
    )
    min_edits: int = Field(
        2,
        ge=1,
        description="Fewest edits between the function names of a plan and those of the seed, its "
        "siblings and every known task; a seed with fewer calls asks for as many as it has.",
    )
    fallback_edits: int = Field(
        1,
        ge=1,
        description="Fewest edits where min_edits allows too few plans, from siblings and train "
        "tasks first, from the seed itself last: some seeds have hardly a call that another "
        "function could take over. Such plans say so in their notes (near: sibling or seed); "
        "evaluation tasks stay min_edits away.",
    )
    fallback_below: int = Field(
        3, ge=0, description="Plans of a seed below which fallback_edits counts. 0: never."
    )
    plausibility_quantile: float = Field(
        0.05,
        ge=0,
        lt=1,
        description="Share of the train tasks that count as implausible when each is scored by the "
        "others; a plan must score above theirs. 0: no threshold.",
    )
    max_patches: int = Field(
        3, ge=0, description="Changes of the initial state that a plan may need."
    )
    max_swaps: int = Field(6, ge=0, description="Functions replaced while a plan is filled.")
    exploration_calls: int = Field(
        48_000, ge=0, description="Calls made to learn what the train tasks do not show."
    )
    exploration_s: float = Field(
        60.0,
        gt=0,
        description="Seconds after which that learning ends in a slow world, once for its train "
        "tasks and tools: the result is cached. Where it ends early, machines differ in their "
        "plans.",
    )
