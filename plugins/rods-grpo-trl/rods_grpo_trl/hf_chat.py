"""The dialect of any Hugging Face model with a chat template that renders tools.

History is never rendered again: the tokens of tool and user messages are what the template adds to
a dummy conversation when it is extended by them. That needs a template which leaves earlier
messages as they were; one that does not is replaced by TRL's training version, or refused.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase
from trl.chat_template_utils import (
    add_response_schema,
    get_training_chat_template,
    parse_response,
    supports_tool_calling,
)

from rods.errors import ConfigError
from rods.types import AssistantMessage, Message, ToolCall, ToolSpec
from rods_grpo_trl.dialect import Dialect
from rods_grpo_trl.tool_calls import Reader, call_of, guarded, message, read_bare, read_tagged

# Llama's templates print today's date unless given one: a prompt must not change overnight.
_FIXED: Mapping[str, Any] = {"date_string": "26 Jul 2024"}
_USER = {"role": "user", "content": "dummy"}
_HANDED_OVER = "These functions are available from now on:\n<tools>\n{tools}\n</tools>"


class HfChatDialect(Dialect):
    """Messages as the model's own chat template writes them.

    ``chat_template`` replaces the tokenizer's; ``template_kwargs`` reach the template, such as
    ``enable_thinking``. ``extra_eos`` are further tokens that end a message, as a model's
    generation configuration lists them.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        *,
        chat_template: str | None = None,
        template_kwargs: Mapping[str, Any] | None = None,
        extra_eos: Sequence[int] = (),
    ) -> None:
        self.tokenizer = tokenizer
        self.chat_template = chat_template or training_template(tokenizer)
        self._kwargs = {**_FIXED, **(template_kwargs or {})}
        self._end = self._end_of_message()
        eos = {self._id(self._end), *extra_eos}
        if isinstance(tokenizer.eos_token_id, int):
            eos.add(tokenizer.eos_token_id)
        self.eos_ids = frozenset(eos)
        self._reader = self._choose_reader()
        self._check()

    # ---------------------------------------------------------------- shown to the policy
    def prompt_ids(self, opening: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """System message, tools and first user turn, as the template renders them."""
        specs = [_schema(tool) for tool in tools] or None
        return self._encode(self._render(list(map(_shown, opening)), tools=specs, open_end=True))

    def suffix_ids(self, shown: Sequence[Message]) -> list[int]:
        """What the template adds behind the end of a message of the policy."""
        called = shown[0].name if shown and shown[0].role == "tool" else None
        before = self._dummy(called or "dummy" if shown and shown[0].role == "tool" else None)
        history = self._render(before)
        extended = self._render([*before, *map(_shown, shown)], open_end=True)
        if not extended.startswith(history):
            raise ConfigError(self._not_preserving(shown[0].role))
        return self._encode(extended[history.rindex(self._end) + len(self._end) :])

    # ---------------------------------------------------------------- said by the policy
    def message_ids(self, message: AssistantMessage) -> list[int]:
        """The tokens of the message; raises ValueError for what a chat cannot say."""
        if message.calls and message.ends_turn:
            raise ValueError("In a chat a message with calls never ends the turn.")
        said = {"role": "assistant", "content": message.content}
        if message.calls:
            said["tool_calls"] = list(map(_call, message.calls))  # type: ignore[assignment]
        prompt = self._render([_USER], open_end=True)
        whole = self._render([_USER, said])
        if not whole.startswith(prompt):
            raise ValueError(f"{self._named} opens a message in a way it does not render later.")
        end = whole.rindex(self._end) + len(self._end)
        return self._encode(whole[len(prompt) : end])

    def parse(self, ids: Sequence[int]) -> AssistantMessage:
        """The message; a call that cannot be read makes it ``malformed``. Thoughts are kept."""
        body = ids[:-1] if ids and ids[-1] in self.eos_ids else ids
        text = self.tokenizer.decode(
            list(body), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return guarded(self._reader, str(text))

    # ---------------------------------------------------------------- the template
    def _render(
        self, messages: list[dict[str, Any]], *, tools: Any = None, open_end: bool = False
    ) -> str:
        try:
            return str(
                self.tokenizer.apply_chat_template(
                    messages,
                    tools=tools,
                    chat_template=self.chat_template,
                    add_generation_prompt=open_end,
                    tokenize=False,
                    **self._kwargs,
                )
            )
        except TemplateError as error:
            raise ConfigError(f"{self._named} cannot render a conversation: {error}.") from error

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _id(self, token: str) -> int:
        found = self.tokenizer.convert_tokens_to_ids(token)
        assert isinstance(found, int)
        return found

    @staticmethod
    def _dummy(called: str | None) -> list[dict[str, Any]]:
        """A user's message and an answer that calls a tool or, without ``called``, none."""
        answer: dict[str, Any] = {"role": "assistant", "content": "" if called else "dummy"}
        if called:
            answer["tool_calls"] = [_call(ToolCall(name=called))]
        return [_USER, answer]

    @property
    def _named(self) -> str:
        return f"The chat template of {self.tokenizer.name_or_path or 'this tokenizer'}"

    def _not_preserving(self, role: str) -> str:
        return (
            f"{self._named} changes earlier messages when a {role} message follows, so what was "
            "sampled is not what would be trained. Give a template that keeps them, for instance "
            "by passing its file as the chat template."
        )

    def _end_of_message(self) -> str:
        """The special token that the template writes behind a message of the assistant."""
        rendered = self._render(self._dummy(None))
        tail = rendered[rendered.rindex("dummy") + len("dummy") :]
        specials = [t for t in self._specials if t in tail]
        if not specials:
            raise ConfigError(
                f"{self._named} writes no special token behind an answer, so nothing says where "
                "a sampled message ends."
            )
        return min(specials, key=tail.index)

    @property
    def _specials(self) -> list[str]:
        added = self.tokenizer.added_tokens_decoder.values()
        return [str(token) for token in added if token.special]

    def _check(self) -> None:
        """Render one message of each role behind an answer, so that a bad template fails now."""
        for role, name in (("tool", "dummy"), ("user", None)):
            self.suffix_ids([Message(role=role, content="dummy", name=name)])

    # ---------------------------------------------------------------- its tool calls
    def _choose_reader(self) -> Reader:
        template = self.chat_template
        if "<tool_call>" in template and "<function=" not in template:
            return read_tagged
        if "ipython" in template and '"parameters"' in template:
            return read_bare
        return self._with_schema()

    def _with_schema(self) -> Reader:
        """TRL's parser for the family of the template, made strict about broken calls."""
        tokenizer = copy.copy(self.tokenizer)
        try:
            add_response_schema(tokenizer)
        except ValueError:
            return read_tagged
        prefix = self._encode(self._render([_USER], open_end=True))

        def read(text: str) -> AssistantMessage:
            parsed = parse_response(tokenizer, self._encode(text + self._end), prefix=prefix)
            calls = [call.get("function", call) for call in parsed.get("tool_calls") or ()]
            thought = parsed.get("reasoning_content") or parsed.get("thinking") or ""
            content = (
                f"<think>{thought}</think>{parsed['content']}" if thought else parsed["content"]
            )
            return message(content, [call_of(c.get("name"), c.get("arguments")) for c in calls])

        return read


def training_template(tokenizer: PreTrainedTokenizerBase) -> str:
    """The tokenizer's template, or what stands in for it where it cannot be trained with.

    One that renders no tools gives way to our ChatML (if the tokenizer knows its tokens), one that
    changes earlier messages to TRL's training version (if there is one).
    """
    own = tokenizer.chat_template
    own = own.get("default") if isinstance(own, dict) else own
    if own is None or not supports_tool_calling(tokenizer):
        if "<|im_end|>" in tokenizer.get_vocab():
            return chatml_tools()
        name = tokenizer.name_or_path or "this tokenizer"
        raise ConfigError(
            f"The chat template of {name} renders no tools and its vocabulary has no '<|im_end|>' "
            "for rods' own. Give a chat template that does, or another model."
        )
    try:
        return get_training_chat_template(tokenizer) or own
    except ValueError:  # a family that TRL does not know
        return str(own)


def chatml_tools() -> str:
    """ChatML with tools, as packaged."""
    return files("rods_grpo_trl").joinpath("templates/chatml_tools.jinja").read_text("utf-8")


def _shown(message: Message) -> dict[str, Any]:
    content = message.content
    if message.reveals:
        listed = "\n".join(json.dumps(_schema(tool)) for tool in message.reveals)
        content = f"{content}\n\n{_HANDED_OVER.format(tools=listed)}".strip()
    named = {"name": message.name} if message.name else {}
    return {"role": message.role, "content": content, **named}


def _schema(tool: ToolSpec) -> dict[str, Any]:
    described = tool.model_dump(include={"name", "description", "parameters"})
    return {"type": "function", "function": described}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
