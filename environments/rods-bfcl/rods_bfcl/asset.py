"""The pinned BFCL wheel as a data asset: found, checked and, at the first use, fetched.

rods-bfcl does not depend on ``bfcl-eval``: its pins break current trainers, and the multi-turn
classes need nothing of them. Every file that is used must have the SHA-256 in ``asset.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from rods import assets
from rods.assets import Asset as Asset


@cache
def _pin() -> assets.AssetPin:
    text = (files("rods_bfcl") / "asset.json").read_text(encoding="utf-8")
    return assets.AssetPin.read(text, name="BFCL", folder="bfcl")


def manifest() -> Mapping[str, str]:
    """Member of the wheel -> SHA-256, for every file that rods-bfcl reads."""
    return _pin().members


def open_asset(path: Path | None = None, *, fetch: bool = True) -> Asset:
    """The asset: the path given, an installed copy, the cache, or fetched into the cache."""
    return assets.open_asset(_pin(), path, fetch=fetch)
