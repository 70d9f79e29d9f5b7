"""The pinned wheel of ``agentdojo``: found, checked and, at the first use, fetched.

Imported as a package it loads the clients of four model servers; its suites need none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from rods import assets
from rods.assets import Asset as Asset

SUITES = "agentdojo/data/suites"


@cache
def _pin() -> assets.AssetPin:
    text = (files("rods_agentdojo") / "asset.json").read_text(encoding="utf-8")
    return assets.AssetPin.read(text, name="AgentDojo", folder="agentdojo")


def manifest() -> Mapping[str, str]:
    """Member of the wheel -> SHA-256, for every file that rods-agentdojo reads."""
    return _pin().members


def open_asset(path: Path | None = None, *, fetch: bool = True) -> Asset:
    """The asset: the path given, an installed copy, the cache, or fetched into the cache."""
    return assets.open_asset(_pin(), path, fetch=fetch)
