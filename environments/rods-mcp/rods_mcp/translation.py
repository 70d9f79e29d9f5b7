"""What a policy sees of a server: a fixed folder name, masked times and ids, one text an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rods.errors import ConfigError
from rods.types import ToolResult
from rods_mcp.connection import Answer

WORLD = "/world"  # what the session's folder is called towards the policy
SESSION = "session"  # what its key is called
MASKED = "<masked>"
_STEP = re.compile(r"(\.\.)([\w$-]+)|(\.)([\w$-]+|\*)|(\[)(\*|\d+)\]|(\[)'([^']+)'\]")
_ROOTED = re.compile(r"(?<![\w./-])/world(?![\w.-])")
Step = str | int


@dataclass(frozen=True, slots=True)
class Mask:
    """One thing that is hidden, in all results and the state or in one tool's only."""

    text: str
    tool: str  # empty: everywhere
    path: tuple[str, ...] = ()  # of a JSON path; "*" any, "**" any depth
    pattern: re.Pattern[str] | None = None

    @classmethod
    def parsed(cls, text: str, tools: Sequence[str]) -> Mask:
        """From its text; a ConfigError tells what is wrong with it."""
        tool, colon, rest = text.partition(":")
        if not colon or tool not in tools:
            tool, rest = "", text
        if rest.startswith("$"):
            return cls(text, tool, path=json_path(rest, "environment.masks"))
        try:
            return cls(text, tool, pattern=re.compile(rest))
        except re.error as error:
            raise ConfigError(
                f"environment.masks: {rest!r} is no regular expression ({error}) and no JSON path "
                "($.items[*].id)."
            ) from error

    def applies(self, tool: str) -> bool:
        """The answers of this tool are masked."""
        return self.tool in ("", tool)


def json_path(text: str, key: str) -> tuple[str, ...]:
    """The steps of a JSON path; a ConfigError where it has another form."""
    steps: list[str] = []
    position = 1
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise ConfigError(f"{key}: {text!r} is no JSON path such as $.items[*].id or $..id.")
        mark, step = (group for group in found.groups() if group is not None)
        steps += ["**", step] if mark == ".." else [step]
        position = found.end()
    return tuple(steps)


class Translator:
    """Both ways between a policy and the servers of one environment."""

    def __init__(
        self,
        masks: Sequence[str],
        tools: Sequence[str],
        *,
        answer: str,
        structured: bool,
        most: int,
    ) -> None:
        self._masks = [Mask.parsed(text, tools) for text in masks]
        self._answer = json_path(answer, "environment.answer") if answer else ()
        self._structured, self._most = structured, most

    def arguments(self, arguments: Any, names: Mapping[str, str]) -> Any:
        """The arguments with the session's own folder and key."""
        return _strings(arguments, lambda text: _own(text, names))

    def result(self, tool: str, answer: Answer, names: Mapping[str, str]) -> ToolResult:
        """The answer as the policy sees it."""
        content = self._content(answer)
        if self._answer and isinstance(content, dict | list):
            taken = at(content, self._answer)
            content = content if taken is None else taken
        content = self.seen(tool, content, names)
        text = content if isinstance(content, str) else compact(content)
        if len(text) > self._most:
            text = f"{text[: self._most]}... [{len(text) - self._most} characters more]"
        return ToolResult(content=text, error=answer.error)

    def seen(self, tool: str, value: Any, names: Mapping[str, str]) -> Any:
        """A value of a result or of the state, with neutral names and masked."""
        value = _strings(value, lambda text: _neutral(text, names))
        for mask in self._masks:
            if mask.applies(tool):
                value = masked(value, mask)
        return value

    def _content(self, answer: Answer) -> Any:
        if answer.structured is not None and (self._structured or not answer.text):
            return answer.structured
        return loaded(answer.text)


def loaded(text: str) -> Any:
    """The JSON value of a text that is an object or a list, else the text."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def compact(value: Any) -> str:
    """JSON without needless spaces."""
    return json.dumps(value, ensure_ascii=False)


def at(value: Any, path: Sequence[str]) -> Any:
    """What stands at a path without wildcards; None where nothing does."""
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def masked(value: Any, mask: Mask) -> Any:
    """The value with what the mask names replaced."""
    if mask.pattern is not None:
        pattern = mask.pattern
        return _strings(value, lambda text: pattern.sub(MASKED, text))
    return _masked_at(value, mask.path)


def _masked_at(value: Any, path: tuple[str, ...]) -> Any:
    if not path:
        return MASKED
    step, rest = path[0], path[1:]
    if step == "**":
        value = _each(value, lambda _, item: _masked_at(item, path))
        return _masked_at(value, rest)
    return _each(value, lambda key, item: _masked_at(item, rest) if step in ("*", key) else item)


def _each(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {key: change(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [change(str(index), item) for index, item in enumerate(value)]
    return value


def _strings(value: Any, change: Any) -> Any:
    """The value with every string in it, keys too, changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _strings(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_strings(item, change) for item in value]
    return value


def _own(text: str, names: Mapping[str, str]) -> str:
    return _ROOTED.sub(lambda _: names[WORLD], text) if WORLD in text else text


def _neutral(text: str, names: Mapping[str, str]) -> str:
    for neutral, own in names.items():
        if own in text:
            text = text.replace(own, neutral)
    return text
