"""Passwords of database URLs stay out of what rods writes: settings, manifest, messages."""

from __future__ import annotations

import re

MASK = "***"
VARIABLE = "RODS_POOL_PASSWORD"  # stands in for MASK when the pool is opened

_IN_URL = re.compile(r"(://[^:/@\s]*:)[^@]+(?=@)")


def masked(text: str) -> str:
    """The text, with ``***`` for the password of every URL ``scheme://user:password@host``."""
    return _IN_URL.sub(rf"\g<1>{MASK}", text)
