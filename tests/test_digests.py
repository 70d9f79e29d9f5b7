"""Equal values have equal digests, whatever the order of their keys; others have not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from rods.digests import canonical_json, digest, file_digest, text_digest


def test_the_order_of_keys_does_not_count_and_that_of_items_does() -> None:
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_it_is_sha_256_of_the_canonical_text() -> None:
    assert canonical_json({"b": "é", "a": [1, None]}) == '{"a":[1,null],"b":"é"}'
    assert digest("é", digits=16) == hashlib.sha256('"é"'.encode()).hexdigest()[:16]


def test_what_a_model_wrote_has_a_digest_even_if_no_file_could_hold_it() -> None:
    assert len(text_digest("half a pair \ud83d")) == 64
    assert digest({"text": "\ud83d"}) != digest({"text": "\ud83e"})


def test_a_value_that_json_cannot_hold_is_an_error_unless_something_stands_for_it() -> None:
    with pytest.raises(TypeError):
        digest({"path": Path("a")})
    assert digest({"path": Path("a")}, default=str) == digest({"path": "a"})


def test_a_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * ((1 << 20) + 7))
    assert file_digest(tmp_path / "large") == text_digest("x" * ((1 << 20) + 7))
