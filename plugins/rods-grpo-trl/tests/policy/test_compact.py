"""The compact dialect: messages of any kind survive the way through tokens."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rods_grpo_trl.compact import CONTROL_TOKENS, CompactDialect, plain_text
from rods_grpo_trl.tiny.tokenizer import TokenizerKind, learn_tokenizer

from rods.types import AssistantMessage, Message, ToolCall, ToolSpec

TEXTS = (" write bake to dimo", " copy moke to badi", ' {"day": 12} it\'s late')


def _tool(name: str, *parameters: str) -> ToolSpec:
    properties = {p: {"type": "string"} for p in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return ToolSpec(name=name, description="", parameters=schema)


TOOLS = {"write": _tool("write", "title", "text"), "read": _tool("read", "title")}
KINDS: tuple[TokenizerKind, ...] = ("syllables", "bpe")


@cache  # hypothesis runs a test many times
def dialect(kind: TokenizerKind) -> CompactDialect:
    tokenizer = learn_tokenizer(kind, TEXTS, {"bake", "dimo"}, 400)
    return CompactDialect(tokenizer, TOOLS, max_shown=12)


def control(token: str) -> int:
    return CONTROL_TOKENS.index(token)  # they come first in the vocabulary


def tokens(ids: list[int]) -> str:
    backend = dialect("syllables").tokenizer.backend_tokenizer
    return str(backend.decode(ids, skip_special_tokens=False))


CALLS = st.builds(
    ToolCall,
    name=st.sampled_from([*TOOLS]),
    arguments=st.dictionaries(
        st.sampled_from(["title", "text", "lines"]), st.text() | st.integers() | st.booleans()
    ),
)


@pytest.mark.parametrize("kind", KINDS)
@given(content=st.text(), calls=st.lists(CALLS, max_size=3), ends=st.booleans())
def test_a_message_comes_back_from_its_tokens(
    kind: TokenizerKind, content: str, calls: list[ToolCall], ends: bool
) -> None:
    said = AssistantMessage(content=content, calls=tuple(calls), ends_turn=ends or not calls)
    ids = dialect(kind).message_ids(said)
    assert sum(i in dialect(kind).eos_ids for i in ids) == 1
    assert ids[-1] in dialect(kind).eos_ids
    assert _canonical(dialect(kind).parse(ids)) == _canonical(said)


def _canonical(message: AssistantMessage) -> str:
    """JSON, because ``1 == True`` in Python."""
    return json.dumps(message.model_dump(), sort_keys=True)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_any_tokens_are_a_message_or_malformed(kind: TokenizerKind, data: st.DataObject) -> None:
    vocabulary = st.integers(0, len(dialect(kind).tokenizer) - 1)
    message = dialect(kind).parse(data.draw(st.lists(vocabulary, max_size=12)))
    assert message.malformed is None or (not message.calls and not message.ends_turn)


def test_the_conversation_reads_as_the_docstring_says() -> None:
    d = dialect("syllables")
    prompt = d.prompt_ids(
        [Message(role="system", content="ignored"), Message(role="user", content="write bake")],
        [*TOOLS.values()],
    )
    call = ToolCall(name="write", arguments={"title": "bake", "text": "dimo"})
    said = d.message_ids(AssistantMessage(calls=(call,)))
    suffix = d.suffix_ids(
        [Message(role="tool", name="write", content='{"ok": [true, "bake"]}'),
         Message(role="user", content="now read", reveals=(TOOLS["read"],))]
    )  # fmt: skip
    assert tokens(prompt) == "<user> write bake<assistant>"
    assert tokens(said) == " write bake dimo<go>"
    assert tokens(suffix) == "<tool> ok true bake<system> read<user> now read<assistant>"


def test_a_missing_tool_is_named_and_many_are_not() -> None:
    d = dialect("syllables")
    opening = [Message(role="user", content="hi")]
    assert tokens(d.prompt_ids(opening, [TOOLS["read"]])).startswith("<system> write<user>")
    many = CompactDialect(d.tokenizer, TOOLS | {f"t{i}": _tool(f"t{i}") for i in range(9)})
    assert tokens(many.prompt_ids(opening, [TOOLS["read"]])).startswith("<user>")


def test_a_long_result_loses_its_end() -> None:
    shown = dialect("syllables").suffix_ids([Message(role="tool", content="ok " * 500)])
    assert len(shown) == 1 + 12 + 1


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_control_tokens_in_shown_text_stay_text(token: str) -> None:
    d = dialect("syllables")
    controls = set(map(control, CONTROL_TOKENS))
    shown = d.suffix_ids([Message(role="user", content=f"a {token} b")])
    assert sum(i in controls for i in shown) == 2  # <user> and <assistant>


def test_a_control_token_inside_a_message_is_malformed() -> None:
    ids = [control("<user>"), control("<end>")]
    assert dialect("syllables").parse(ids).malformed == "control token"


def test_going_on_without_a_call_is_malformed() -> None:
    assert dialect("syllables").parse([control("<go>")]).malformed == "no call"


def test_a_megabyte_is_malformed_at_once() -> None:
    d = dialect("syllables")
    assert d.parse([*d.message_ids(AssistantMessage(content="a" * 30_000))]).malformed == "too long"


@pytest.mark.parametrize(
    ("content", "text"),
    [('{"a": {"b": [1, null]}}', "a b 1 null"), ("e41", "e41"), ("12", "12"), ('"x"', '"x"')],
)
def test_results_lose_the_punctuation_of_json(content: str, text: str) -> None:
    assert plain_text(content) == text
