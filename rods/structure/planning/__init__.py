"""New function sequences of a seed's structure, without a language model."""

from rods.structure.planning.options import PlanningOptions, Strictness
from rods.structure.planning.planner import StructurePlanner
from rods.structure.planning.request import PlanningOutcome

__all__ = ["PlanningOptions", "PlanningOutcome", "Strictness", "StructurePlanner"]
