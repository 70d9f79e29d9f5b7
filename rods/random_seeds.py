"""Random seeds that follow from a key alone: equal on every machine, unrelated between keys."""

from __future__ import annotations

import hashlib


def derived_seed(*key: object, bits: int = 48) -> int:
    """A seed in [0, 2**bits) that the parts of the key, as texts and in their order, decide."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
    return int.from_bytes(digest, "big") >> (256 - bits)
