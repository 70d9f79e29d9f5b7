"""Tokenizers learned from an environment's practice texts, lossless for any text.

Both start from bytes and cut text the same way (a space belongs to the word behind it). ``bpe``
merges what is frequent, for a policy that remembers. ``syllables`` is for a policy that has to copy
names it has never seen: a frequent word is one token, a word that is ever a value is spelled in
syllables, so an unseen name is made of seen tokens.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from rods_grpo_trl.compact import CONTROL_TOKENS

TokenizerKind = Literal["syllables", "bpe"]

# Words of letters and underscores, single digits, runs of signs; each with the space before it.
_PIECES = r" ?[\p{L}_]+| ?\p{N}| ?[^\s\p{L}_\p{N}]+|\s+(?!\S)|\s+"
_WORD = re.compile(r"[^\W\d]+")
_SYLLABLE = re.compile(r"[^aeiou]*[aeiou]+|[^aeiou]+")
_WORD_SCORE, _SYLLABLE_SCORE, _BYTE_SCORE = -1.0, -2.0, -10.0  # few pieces win, bytes come last


def learn_tokenizer(
    kind: TokenizerKind, texts: Sequence[str], values: Iterable[str], vocab_size: int
) -> PreTrainedTokenizerFast:
    """A tokenizer of at most ``vocab_size`` tokens; ``values`` are the strings to be copied."""
    if kind == "bpe":
        backend = _bpe(texts, vocab_size)
    else:
        backend = _syllables(texts, set(values), vocab_size)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        pad_token="<pad>",
        eos_token="<end>",
        additional_special_tokens=[t for t in CONTROL_TOKENS if t not in ("<pad>", "<end>")],
        split_special_tokens=True,  # "<go>" in a user's words is text
        clean_up_tokenization_spaces=False,
    )


def _pre_tokenizer() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _dressed(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = _pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _bpe(texts: Sequence[str], vocab_size: int) -> Tokenizer:
    tokenizer = _dressed(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _syllables(texts: Sequence[str], values: set[str], vocab_size: int) -> Tokenizer:
    """Words of ``values`` as syllables, other words whole, by frequency up to ``vocab_size``."""
    copied = {word for value in values for word in _WORD.findall(value)}
    cut = _pre_tokenizer()
    counts = Counter(piece for text in texts for piece, _ in cut.pre_tokenize_str(text))
    spelled = {piece: n for piece, n in counts.items() if piece.lstrip("Ġ") in copied}
    syllables = Counter(_pieces_of(spelled))
    pieces = dict.fromkeys(CONTROL_TOKENS, 0.0)
    pieces |= dict.fromkeys(sorted(pre_tokenizers.ByteLevel.alphabet()), _BYTE_SCORE)
    pieces |= {s: _SYLLABLE_SCORE for s, _ in _frequent(syllables) if s not in pieces}
    words = {w: _WORD_SCORE for w, _ in _frequent(counts) if w not in pieces | spelled}
    room = max(0, vocab_size - len(pieces))
    pieces |= dict(list(words.items())[:room])
    return _dressed(models.Unigram(list(pieces.items()), unk_id=0, byte_fallback=False))


def _pieces_of(spelled: dict[str, int]) -> Iterable[str]:
    """The syllables of the words; the first keeps the space before it."""
    for piece in spelled:
        space = "Ġ" if piece.startswith("Ġ") else ""
        first, *rest = _SYLLABLE.findall(piece.removeprefix("Ġ"))
        yield from (space + first, *rest)


def _frequent(counts: Counter[str]) -> list[tuple[str, int]]:
    """By falling count, then by name: equal inputs give equal vocabularies."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
