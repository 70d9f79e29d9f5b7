"""Named sets of defaults for the built-in parts; plugins offer theirs as ``Component.presets``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# For the preset "demo" of a world that is too large for a policy without pretraining: the whole
# machinery in minutes on two cores.
SHORT_RUN: Mapping[str, Mapping[str, Any]] = {
    "curriculum": {"epoch_size": 24, "stages": [{"name": "all", "epochs": 2}]},
    "evaluation": {"tasks": 24, "samples": 2},
}

# Table (or table:component) -> key -> value, under everything the user sets.
PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    # The rules as published (arXiv:2606.19047): a seed needs no variance within its group, a task
    # without variance stays, and a task keeps its entities at every visit.
    "paper": {
        "curriculum": {"redraw": "never"},
    },
}
