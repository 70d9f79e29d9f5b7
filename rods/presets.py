"""Named sets of defaults for the built-in parts; plugins offer theirs as ``Component.presets``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Table (or table:component) -> key -> value, under everything the user sets.
PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    # The rules as published (arXiv:2606.19047): a seed needs no variance within its group, a task
    # without variance stays, and a task keeps its entities at every visit.
    "paper": {
        "curriculum": {"redraw": "never"},
    },
}
