"""Readable requests without a language model: one sentence part a call, joined turn by turn.

Of a tool's alternatives the one is taken that says what must be said and nothing that must not be;
a call whose result the same turn uses is named there ("the price of {item}") where it has a noun.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rods.structure import transforms
from rods.structure.sources import said
from rods.synthesis.wording.brief import Brief, BriefCall, Unspeakable
from rods.synthesis.wording.given import pointing, singular, template_for
from rods.synthesis.wording.phrases import Pointed, Rendered, documented, plain, render, thing
from rods.synthesis.wording.spoken import fill
from rods.types import Phrase, SourceKind, ToolSpec

_SAID = (SourceKind.USER, SourceKind.DERIVED)
_POINTED = (SourceKind.RESULT, SourceKind.STATE)
_TWICE = re.compile(r"\b(\w+) (?:that|the|my) (?:\w+ )?\1\b")  # "order that order"
_CLASH = re.compile(r"\b(?:a|an|the|my) (?=(?:the|my|that|those) )")  # "the my folder directory"
_COUNTED = re.compile(r"\{([vh]\d+)\} ([a-z]{3,}s)\b")  # "the last {v1} lines"
_UNTOLD = 100  # faults
_OPENERS = (
    "Please {}.",
    "Could you {}?",
    "I need you to {}.",
    "I'd like you to {}.",
    "{}, please.",
)
_FOLLOWERS = ("Then {}.", "After that, {}.", "Next, {}.")
_LATER = ("Now please {}.", "Next, could you {}?", "Also {}, please.", "After this, {}.", "Now {}.")


class Composer:
    """Words briefs of one environment."""

    def __init__(
        self,
        specs: Mapping[str, ToolSpec],
        phrase: Callable[[str], Phrase | None],
        *,
        terse: bool = False,
    ) -> None:
        self._specs, self._phrase, self._terse = specs, phrase, terse
        self._known: dict[str, tuple[Phrase, bool]] = {}

    def compose(self, brief: Brief, rng: random.Random) -> tuple[str, ...]:
        """One text a turn, with placeholders for the values; empty where a turn has no call.

        Unspeakable where no words tell a value that only the state holds.
        """
        return tuple(self._turn(brief, turn, rng) for turn in range(brief.turns))

    def actions(self, brief: Brief, turn: int) -> list[str]:
        """What the turn asks for, one entry a call, in the imperative and with placeholders."""
        wording = _Turn(self, brief, turn, random.Random(0))
        return [smooth(wording.action(i, absorb=False).text, brief) for i in wording.calls]

    def phrase(self, tool: str) -> tuple[Phrase, bool]:
        """The tool's phrase, and whether it was made from its description."""
        if tool not in self._known:
            own = self._phrase(tool)
            made = documented(self._specs[tool]) if own is None else own
            self._known[tool] = (made, own is None)
        return self._known[tool]

    def _turn(self, brief: Brief, turn: int, rng: random.Random) -> str:
        parts = [smooth(part, brief) for part in _Turn(self, brief, turn, rng).parts()]
        if not parts:
            return ""
        return " and ".join(parts) if self._terse else _polite(parts, turn, rng)


@dataclass
class _Turn:
    composer: Composer
    brief: Brief
    turn: int
    rng: random.Random
    absorbed: set[int] = field(default_factory=set)

    @property
    def calls(self) -> list[int]:
        return [i for i, call in enumerate(self.brief.calls) if call.turn == self.turn]

    def parts(self) -> list[str]:
        """The sentence parts, last call first, so that it is known what the later ones name."""
        made: list[str] = []
        for index in reversed(self.calls):
            if index not in self.absorbed:
                made.append(self.action(index, absorb=True).text)
        return made[::-1]

    def action(self, index: int, *, absorb: bool) -> Rendered:
        """The best alternative for the call, completed by what it leaves out."""
        call = self.brief.calls[index]
        phrase, automatic = self.composer.phrase(call.call.name)
        options = []
        for template in phrase.says:
            taken: set[int] = set()
            speak = self.speaker(call, taken if absorb else None)
            rendered = render(template, call.call.arguments, speak)
            if rendered is not None:
                rendered = self.honest(call, rendered)
                text = self.completed(call, rendered, automatic, speak)
                faults = self.faults(call, rendered, text) + _unpointed(call, template, rendered)
                options.append((faults, text, rendered, taken))
        fewest = min(option[0] for option in options) if options else 0
        best = [option for option in options if option[0] == fewest]
        if absorb and (not best or fewest >= _UNTOLD):
            raise Unspeakable(f"what {plain(call.call.name)} needs of the state")
        if not best:
            return self.undescribed(call)
        _, text, rendered, taken = self.rng.choice(best)
        self.absorbed |= taken
        return Rendered(text, rendered.parameters)

    def honest(self, call: BriefCall, rendered: Rendered) -> Rendered:
        """Words chosen by a value do not say it where they do not hold it."""
        whole = fill(rendered.text, self.brief.spellings).casefold()
        unsaid = {
            parameter
            for parameter in rendered.parameters & call.words.keys()
            if fill(call.words[parameter], self.brief.spellings).strip("'\"").casefold()
            not in whole
        }
        return Rendered(rendered.text, rendered.parameters - unsaid)

    def undescribed(self, call: BriefCall) -> Rendered:
        """No phrase fits these arguments: the description's sentence does."""
        (template,) = documented(self.composer._specs[call.call.name]).says
        speak = self.speaker(call, None)
        return Rendered(
            self.completed(call, Rendered(template, frozenset()), True, speak), frozenset()
        )

    def speaker(self, call: BriefCall, taken: set[int] | None) -> Callable[[str], str | None]:
        """How the call's parameters are said; producers that are named on the way are ``taken``."""

        def speak(parameter: str) -> str | None:
            kind = call.kinds.get(parameter)
            if kind in _SAID:
                return call.words.get(parameter)
            words = call.pointers.get(parameter)
            if kind is SourceKind.RESULT:
                words = self.noun(call, parameter, taken) or words or self.that(call, parameter)
            return Pointed(words) if words and kind in _POINTED else None

        return speak

    def noun(self, call: BriefCall, parameter: str, taken: set[int] | None) -> str | None:
        """What the producer gives, in words, if it acts in this turn and has a noun for it."""
        producer = call.producers.get(parameter)
        if taken is None or producer is None:
            return None
        maker = self.brief.calls[producer]
        template = template_for(self.nouns(maker), call.given[parameter], parameter)
        if maker.turn != self.turn:
            return template if "{" not in template else None
        below: set[int] = set()
        made = render(template, maker.call.arguments, self.speaker(maker, below))
        if not template or made is None or not set(maker.words) <= made.parameters:
            return None
        taken |= {producer} | below
        return made.text

    def that(self, call: BriefCall, parameter: str) -> str:
        """ "that order", by the name that the order's own result gives it."""
        producer = call.producers.get(parameter)
        if producer is None:
            return f"that {thing(parameter)}"
        nouns, of = self.nouns(self.brief.calls[producer]), call.given[parameter]
        return pointing(nouns, of, parameter, call.call.arguments[parameter])

    def nouns(self, maker: BriefCall) -> Mapping[str, str]:
        """What the call's phrase says of its results."""
        return self.composer.phrase(maker.call.name)[0].nouns

    def completed(
        self,
        call: BriefCall,
        rendered: Rendered,
        automatic: bool,
        speak: Callable[[str], str | None],
    ) -> str:
        """The text with the parameters that it does not say yet; results only in automatic text."""
        text, extra = rendered.text, []
        for parameter in call.call.arguments:
            missing = parameter not in rendered.parameters
            pointed = parameter in call.producers or parameter in call.pointers
            wanted = parameter in call.words or (automatic and pointed)
            words = speak(parameter) if missing and wanted else None
            if words is None:
                continue
            placed = _placed(text, parameter, words, said_of=parameter in call.words)
            if automatic and placed is not None:
                text = placed
            elif parameter in call.words:
                extra.append(f"{plain(parameter)} {words}")
            else:
                extra.append(words)
        return f"{text} with {_and(extra)}" if extra else text

    def faults(self, call: BriefCall, rendered: Rendered, text: str) -> int:
        """Parameters that had to be added, values that must not be said, and what nothing tells."""
        whole = fill(text, self.brief.spellings)
        numbers = {number for _, number in transforms.numbers(whole)}
        wrong = [
            one
            for one in self.brief.silent
            if self.brief.calls[one.call] is call
            and said(one.literal, whole, whole.casefold(), numbers)
        ]
        untold = [
            p
            for p, kind in call.kinds.items()
            if kind is SourceKind.STATE and p not in rendered.parameters | call.pointers.keys()
        ]
        added = len(set(call.words) - rendered.parameters)
        clumsy = bool(_TWICE.search(whole)) + bool(_CLASH.search(whole))
        return _UNTOLD * len(untold) + 10 * len(wrong) + added + clumsy


def _unpointed(call: BriefCall, template: str, rendered: Rendered) -> int:
    """Values that are only pointed at where the words expect them to be told."""
    return sum(
        call.kinds.get(parameter) in _POINTED and f"{{{parameter}!}}" not in template
        for parameter in rendered.parameters
    )


def smooth(text: str, brief: Brief) -> str:
    """The text without "the my folder" and "the last 1 lines"."""

    def counted(found: re.Match[str]) -> str:
        value = brief.values.get(found[1])
        return (
            f"{{{found[1]}}} {singular(found[2])}" if value and value.spelling == "1" else found[0]
        )

    return _COUNTED.sub(counted, _CLASH.sub("", text))


def _placed(text: str, parameter: str, words: str, *, said_of: bool) -> str | None:
    """The words put where the text already speaks of the parameter."""
    noun = thing(parameter).split()[-1]
    pattern = re.compile(rf"\b(?:a|an|the|that)\s+(?:(?:given|specified|specific)\s+)?{noun}\b")
    if not pattern.search(text):
        return None
    put = f"the {noun} {words}" if said_of else words
    return pattern.sub(lambda _: put, text, count=1)


def _polite(parts: list[str], turn: int, rng: random.Random) -> str:
    opener = rng.choice(_LATER if turn and rng.random() < 0.7 else _OPENERS)
    if len(parts) <= 3 and rng.random() < 0.5:
        return _sentence(opener, _then(parts))
    followers = [_sentence(rng.choice(_FOLLOWERS), part) for part in parts[1:]]
    return " ".join([_sentence(opener, parts[0]), *followers])


def _then(parts: list[str]) -> str:
    if len(parts) < 3:
        return ", then ".join(parts)
    return f"{', '.join(parts[:-1])} and finally {parts[-1]}"


def _sentence(frame: str, part: str) -> str:
    text = frame.format(part.replace("{", "{{").replace("}", "}}"))
    text = text.replace("{{", "{").replace("}}", "}")
    return text[:1].upper() + text[1:]


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
