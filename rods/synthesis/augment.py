"""V. Augment."""

from __future__ import annotations

import random

from rods.interfaces import ComponentConfig, Environment
from rods.synthesis.contracts import AugmentStage, Draft
from rods.types import Kind, Rejection


class AugmentConfig(ComponentConfig):
    """x"""

    def weights(self) -> dict[Kind, float]:
        """x"""
        return {}


class KindEditor(AugmentStage):
    """x"""

    def __init__(self, config: AugmentConfig, environment: Environment) -> None:
        self._config, self._environment = config, environment

    def augment(self, draft: Draft, rng: random.Random) -> Draft | Rejection:
        """x"""
        return draft
