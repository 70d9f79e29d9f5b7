"""The learned tokenizers: lossless, deterministic, and names that were never seen are spelled."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_grpo_trl.tiny.tokenizer import TokenizerKind, learn_tokenizer
from transformers import PreTrainedTokenizerFast

NAMES = ("bake", "dimo", "keba", "modi")
TEXTS = tuple(f" delete file {a} and {b} on day 12" for a in NAMES for b in NAMES)
TOKENIZERS = {
    kind: learn_tokenizer(kind, TEXTS, NAMES, 420) for kind in ("syllables", "bpe")
}  # type: dict[TokenizerKind, PreTrainedTokenizerFast]  # fmt: skip


def pieces(text: str) -> list[str]:
    return list(TOKENIZERS["syllables"].backend_tokenizer.encode(text).tokens)


@pytest.mark.parametrize("kind", ["syllables", "bpe"])
@given(text=st.text())
def test_any_text_comes_back_from_its_tokens(kind: TokenizerKind, text: str) -> None:
    backend = TOKENIZERS[kind].backend_tokenizer
    assert backend.decode(backend.encode(text).ids, skip_special_tokens=False) == text


def test_words_are_whole_and_names_are_spelled_in_syllables() -> None:
    assert pieces(" delete file bake") == ["Ġdelete", "Ġfile", "Ġba", "ke"]
    assert pieces(" moke") == ["Ġmo", "ke"]  # never seen, made of seen syllables


def test_digits_stand_alone() -> None:
    assert pieces(" day 12") == ["Ġday", "Ġ1", "2"]


@pytest.mark.parametrize("kind", ["syllables", "bpe"])
def test_equal_texts_give_equal_vocabularies(kind: TokenizerKind) -> None:
    again = learn_tokenizer(kind, TEXTS, reversed(NAMES), 420)
    assert again.get_vocab() == TOKENIZERS[kind].get_vocab()
    assert len(again) <= 420


def test_a_saved_tokenizer_reads_alike(tmp_path: Path) -> None:
    TOKENIZERS["syllables"].save_pretrained(tmp_path)
    loaded = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    text = " delete <go> moke é"
    assert loaded.backend_tokenizer.encode(text).tokens == pieces(text)
