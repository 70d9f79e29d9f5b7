"""The dialect of chat models, on templates as they are shipped and tokenizers built here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trl
from rods_grpo_trl.hf_chat import HfChatDialect, chatml_tools
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from rods.errors import ConfigError
from rods.types import AssistantMessage, Message, ToolCall, ToolSpec

TEMPLATES = Path(trl.__file__).parent / "chat_templates"
# SmolLM2's own template: no tools
SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\\nYou are SmolLM.<|im_end|>\\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
LLAMA = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
FAMILIES = {
    "qwen2_5": CHATML,
    "qwen3": CHATML,
    "qwen3_instruct_2507": CHATML,
    "qwen3_5_nothink": CHATML,
    "llama3_1": LLAMA,
    "smollm2": CHATML,
}
WRITE = ToolSpec(
    name="write",
    description="Write a file.",
    parameters={"type": "object", "properties": {"title": {"type": "string"}}},
)
OPENING = [Message(role="system", content="Be brief."), Message(role="user", content="Hello.")]
RESULT = Message(role="tool", name="write", content="done 12")
USER = Message(role="user", content="And now?")
CALL = AssistantMessage(calls=(ToolCall(name="write", arguments={"title": 'a "b" é'}),))


def tokenizer(template: str | None, specials: tuple[str, ...]) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer without merges, with the special tokens of a family."""
    vocabulary = {byte: i for i, byte in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend,
        eos_token=specials[-1] if specials is LLAMA else "<|im_end|>",
        additional_special_tokens=list(specials),
    )
    made.chat_template = template
    return made


@cache
def dialect(family: str) -> HfChatDialect:
    template = SMOLLM2 if family == "smollm2" else (TEMPLATES / f"{family}.jinja").read_text()
    return HfChatDialect(tokenizer(template, FAMILIES[family]))


def text(family: str, ids: list[int]) -> str:
    return str(dialect(family).tokenizer.decode(ids, skip_special_tokens=False))


every_family = pytest.mark.parametrize("family", FAMILIES)


@every_family
def test_the_prompt_holds_system_tools_and_user_and_ends_where_the_policy_speaks(
    family: str,
) -> None:
    prompt = text(family, dialect(family).prompt_ids(OPENING, [WRITE]))
    places = [prompt.index(part) for part in ("Be brief.", "Hello.")]
    assert places == sorted(places)
    assert '"write"' in prompt
    assert "Write a file." in prompt
    assert "assistant" in prompt[-60:]


@every_family
def test_a_conversation_reads_as_the_template_renders_it_whole(family: str) -> None:
    d = dialect(family)
    said: list[dict[str, Any]] = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "",
         "tool_calls": [{"type": "function", "function": CALL.calls[0].model_dump()}]},
        {"role": "tool", "name": "write", "content": "done 12"},
        {"role": "assistant", "content": "Written."},
        {"role": "user", "content": "And now?"},
    ]  # fmt: skip
    whole = d.tokenizer.apply_chat_template(
        said, chat_template=d.chat_template, tokenize=False, add_generation_prompt=True,
        date_string="26 Jul 2024",
    )  # fmt: skip
    ids = d.prompt_ids([OPENING[1]], [])
    ids += d.message_ids(CALL) + d.suffix_ids([RESULT])
    ids += d.message_ids(AssistantMessage(content="Written.")) + d.suffix_ids([USER])
    assert text(family, ids) == whole


@every_family
@pytest.mark.parametrize("said", [CALL, AssistantMessage(content="Just words.")])
def test_a_message_comes_back_from_its_tokens(family: str, said: AssistantMessage) -> None:
    ids = dialect(family).message_ids(said)
    assert ids[-1] in dialect(family).eos_ids
    assert dialect(family).parse(ids) == said


@pytest.mark.parametrize("family", ["qwen2_5", "qwen3", "smollm2", "qwen3_5_nothink"])
def test_two_calls_and_words_come_back(family: str) -> None:
    said = AssistantMessage(content="Two files.", calls=CALL.calls * 2)
    assert dialect(family).parse(dialect(family).message_ids(said)) == said


def parsed(family: str, written: str) -> AssistantMessage:
    d = dialect(family)
    return d.parse([*d.tokenizer(written, add_special_tokens=False)["input_ids"], min(d.eos_ids)])


TAGGED = [
    '<tool_call>{"name": "write", "arguments": {"title": "a"}',
    '<tool_call>{"name": "write", "arguments": {"title": "a"}</tool_call>',
    "<tool_call></tool_call>",
    '<tool_call>["write"]</tool_call>',
    '<tool_call>{"arguments": {}}</tool_call>',
    '<tool_call>{"name": "write", "arguments": [1]}</tool_call>',
    '<tool_call>{"name": "write", "arguments": {"title": NaN}}</tool_call>',
    '<tool_call>{"name": "write", "arguments": {"title": "\\ud800"}}</tool_call>',
    '<tool_call>{"name": "write", "arguments": ' + '{"a":' * 3000 + "</tool_call>",
    '<tool_call>{"name": "write", "arguments": {}}</tool_call> and <tool_call>{"name"',
]
BARE = [
    '{"name": "write", "parameters": {"title": "a"',
    '{"name": "write", "parameters": "a"}',
    '<|python_tag|>write.call(title="a")',
    '{"name": "write", "parameters": {"title": "a"}}; {"name": "write"}',
]


@pytest.mark.parametrize(
    ("family", "written"),
    [("qwen2_5", w) for w in TAGGED]
    + [("qwen3_5_nothink", TAGGED[0]), ("qwen3_5_nothink", "<tool_call><function=wri</tool_call>")]
    + [("llama3_1", w) for w in BARE],
)
def test_a_broken_call_is_malformed_and_never_plain_text(family: str, written: str) -> None:
    message = parsed(family, written)
    assert message.malformed
    assert not message.calls


def test_thoughts_are_kept_and_a_call_in_them_is_not_run() -> None:
    thought = '<think>maybe <tool_call>{"name": "x"}</tool_call></think>'
    call = '\n<tool_call>{"name": "write", "arguments": {}}</tool_call>'
    message = parsed("qwen3", thought + call)
    assert message.content == thought
    assert [c.name for c in message.calls] == ["write"]
    assert parsed("qwen3", thought + "fine").calls == ()


def test_arguments_of_llama_may_stand_under_either_name() -> None:
    for key in ("parameters", "arguments"):
        assert parsed("llama3_1", f'{{"name": "write", "{key}": {{}}}}').calls[0].name == "write"
    assert parsed("llama3_1", '{"title": "a JSON answer"}').calls == ()


def test_a_tool_handed_over_is_described_in_the_users_message() -> None:
    shown = [Message(role="user", content="Now.", reveals=(WRITE,))]
    suffix = text("qwen2_5", dialect("qwen2_5").suffix_ids(shown))
    assert "Now.\n\nThese functions are available" in suffix
    assert '"write"' in suffix


def test_a_template_without_tools_gives_way_to_our_own() -> None:
    assert dialect("smollm2").chat_template == chatml_tools()
    with pytest.raises(ConfigError, match="renders no tools"):
        HfChatDialect(tokenizer(None, LLAMA))


@pytest.mark.parametrize(("last", "role"), [("tool", "tool"), ("user", "user")])
def test_a_template_that_changes_earlier_messages_is_refused_by_name(last: str, role: str) -> None:
    forgetful = "{% if messages[-1].role == '" + last + "' %}!{% endif %}" + chatml_tools()
    made = tokenizer(chatml_tools(), CHATML)
    made.name_or_path = "some/model"
    with pytest.raises(ConfigError, match=rf"some/model changes earlier .* a {role} message"):
        HfChatDialect(made, chat_template=forgetful)


def test_a_chat_ends_a_turn_with_words_only() -> None:
    with pytest.raises(ValueError, match="never ends the turn"):
        dialect("qwen2_5").message_ids(CALL.model_copy(update={"ends_turn": True}))


def test_further_tokens_may_end_a_message() -> None:
    made = tokenizer(SMOLLM2, CHATML)
    other = made.get_vocab()["<|endoftext|>"]
    assert other in HfChatDialect(made, extra_eos=[other]).eos_ids
