"""Whether a message that holds its values is a request at all: rules where no judge reads it.

They see repetition, length, the language, and whether each call is spoken of. What they cannot see
is whether the message means the right thing: that takes a judge.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rods.synthesis.reasons import Reason
from rods.synthesis.wording.brief import Brief, BriefCall
from rods.synthesis.wording.phrases import documented, plain
from rods.synthesis.wording.spoken import PLACEHOLDER
from rods.types import Phrase, ToolSpec

_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ANY = re.compile(r"\S+")
_FIELDS = re.compile(r"\{[^{}]*\}")
_CHOICES = re.compile(r"\{\w+!?:([^{}]*)\}")
_SAME = re.compile(r"(\S)\1{5}")  # one sign over and over
_WRITTEN = re.compile(r"[`{}]|\n\s*\n")  # code, braces, paragraphs
_STATES = re.compile(
    r"\W*(yes|no|i can|i will|i.ll|i.m|i am|the|this|these|its?|your?|here|there|an?|in|to"
    r"|what an?)\b",
    re.I,
)
_OFFERS = re.compile(
    r"\bi(?:.m| am)(?: here| ready| happy| glad| able| unable| not able)? to (?:help|assist)\b"
    r"|\bi(?:.ll| will| can) (?:help|assist|do my best)\b|\bi.d be (?:happy|glad) to\b"
    r"|\b(?:as an? (?:ai|assistant|language model)|how (?:can|may) i (?:help|assist))\b"
    r"|\bmy (?:answer|response)\b|^\W*(?:sure|certainly|of course)\b",
    re.I,
)  # what an assistant says, not a user
_ASKS = re.compile(r"\?|\b(please|i need|i want|i'd|i would|can you|could you|would you)\b", re.I)
_GRAM, _GRAMS = 3, 3  # three words in a row, said three times
_STEMS = 3  # times that one word may be said beyond the request's own
_WORDS_A_CALL, _WORDS_MORE, _WORDS_FEWEST = 30, 30, 2
_KNOWN = 0.5  # share of the words that somebody in this world uses, or that are plain English
_PLAIN = """
a about above after again all also am an and another any are as ask at back be because been before
but by can check come could did do does done down else every everything find first for from get give
go good great had has have hello help here hey hi how i i'd i'll i'm i've if in into is it it's its
just kindly know last let let's like list look make me might more most my name named need new next
no not now of off on once one only onto or other our out over please put really right see set should
show so some still take tell than thank thanks that that's the their them then there these they
thing this those through to today too under up us use want was we well were what what's when where
which while who will with within would yes yet you your
"""
_EMPTY = """
ask called check current find get give help know let list look make name named need new put see set
show take tell thing use want work everything
"""  # words that say nothing of what a call does
_TALK = "request message placeholder polite prompt assistant response rephrase rewrite sentence"
PLAIN = frozenset(_PLAIN.split())
TELLING_NOTHING = PLAIN | frozenset(_EMPTY.split())


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one message."""

    reason: Reason
    remark: str


class Sense:
    """Reads the messages of one environment's users."""

    def __init__(
        self,
        specs: Mapping[str, ToolSpec],
        phrase: Callable[[str], Phrase | None],
        said: Callable[[], Sequence[str]],
    ) -> None:
        """``said`` gives what the users of the train tasks say."""
        self._specs, self._phrase, self._said = specs, phrase, said
        self._topics: dict[str, frozenset[str]] = {}
        self._vocabulary: frozenset[str] = frozenset()

    def faults(self, brief: Brief, turn: int, template: str, asked: str) -> Iterator[Fault]:
        """Faults of the template of one turn; ``asked`` are the words without a model for it."""
        calls = [(i, call) for i, call in enumerate(brief.calls) if call.turn == turn]
        where = f"Message {turn + 1}"
        if _repeats(template, asked):
            yield Fault(Reason.REPETITION, f"{where} says the same over and over.")
        words, most = _ANY.findall(template), _WORDS_MORE + _WORDS_A_CALL * len(calls)
        if not _WORDS_FEWEST <= len(words) <= most:
            told = f"{where} has {len(words)} words; {_WORDS_FEWEST} to {most} are expected."
            yield Fault(Reason.WRONG_LENGTH, told)
        if calls and _STATES.match(template) and not _ASKS.search(template):
            yield Fault(Reason.CALL_UNSAID, f"{where} states something instead of asking.")
        if calls and _OFFERS.search(template):
            yield Fault(Reason.CALL_UNSAID, f"{where} speaks as an assistant does, not a user.")
        if not self._understood(template):
            yield Fault(Reason.FOREIGN_WORDS, f"{where} is not in the words of this world's users.")
        heard = stems(PLACEHOLDER.sub(" ", template))
        topics = stems(asked).union(*(self._topic(call) for _, call in calls))
        if _WRITTEN.search(PLACEHOLDER.sub("", template)):
            yield Fault(Reason.LEAK, f"{where} has marks or paragraphs that nobody speaks.")
        if about := (heard & _ABOUT) - topics:
            told = f"{where} speaks of its {', '.join(sorted(about))} instead of asking."
            yield Fault(Reason.LEAK, told)
        for index, call in calls:
            if not heard & self._topic(call) and not _implied(brief, index):
                told = f"{where} does not speak of the request to {self._request(call)}."
                yield Fault(Reason.CALL_UNSAID, told)

    def _request(self, call: BriefCall) -> str:
        (text,) = documented(self._specs[call.call.name]).says
        return text

    def _topic(self, call: BriefCall) -> frozenset[str]:
        """What a request for the call can speak of, as stems."""
        name = call.call.name
        if name not in self._topics:
            own, spec = self._phrase(name), self._specs[name]
            texts = [plain(name), self._request(call), *map(plain, spec.required)]
            if own is not None:
                texts += [_open(text) for text in (*own.says, *own.nouns.values())]
            self._topics[name] = stems(" ".join(texts))
        return self._topics[name]

    def _understood(self, template: str) -> bool:
        words = [word.lower() for word in _WORDS.findall(PLACEHOLDER.sub(" ", template))]
        known = sum(word in PLAIN or stem(word) in self._known for word in words)
        return known >= _KNOWN * len(words)

    @property
    def _known(self) -> frozenset[str]:
        """The stems of all that is said or written in this world."""
        if not self._vocabulary:
            texts = [*self._said(), *(spec.description for spec in self._specs.values())]
            for name in self._specs:
                own = self._phrase(name)
                texts += [_open(text) for text in own.says] if own is not None else []
            found = {stem(word.lower()) for text in texts for word in _WORDS.findall(text)}
            self._vocabulary = frozenset(found)
        return self._vocabulary


def stem(word: str) -> str:
    """``deleting``, ``deleted`` and ``deletes`` as one: a rough stem, alike for alike words."""
    word = word.lower().removesuffix("'s")
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word.rstrip("ey") if len(word.rstrip("ey")) >= 3 else word


def stems(text: str) -> frozenset[str]:
    """The stems of the words that mean something by themselves."""
    words = {word.lower() for word in _WORDS.findall(text)}
    return frozenset(stem(word) for word in words - TELLING_NOTHING if len(word) > 2)


def _implied(brief: Brief, index: int) -> bool:
    """A later call of the same turn takes the result: who asks for that asks for this."""
    turn = brief.calls[index].turn
    return any(index in call.producers.values() for call in brief.calls if call.turn == turn)


def _repeats(template: str, asked: str) -> bool:
    words = [word.lower() for word in _ANY.findall(template)]
    grams = Counter(zip(*(words[n:] for n in range(_GRAM)), strict=False))
    if _SAME.search(template) or max(grams.values(), default=0) >= _GRAMS:
        return True
    needed = _counted(asked)
    return any(n - needed[word] >= _STEMS for word, n in _counted(template).items())


def _counted(text: str) -> Counter[str]:
    """How often each stem is said; placeholders are none."""
    words: Collection[str] = _WORDS.findall(PLACEHOLDER.sub(" ", text))
    return Counter(stem(word) for word in words if word.lower() not in PLAIN and len(word) > 2)


def _open(template: str) -> str:
    """A phrase with the words of all its choices and without its fields."""
    choices = _CHOICES.sub(lambda found: " ".join(re.split(r"[;=]", found[1])), template)
    return _FIELDS.sub(" ", choices)


_ABOUT = stems(_TALK)  # who asks for something says none of them, unless they are what it is about
