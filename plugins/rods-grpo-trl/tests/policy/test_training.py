"""Supervised steps: only what the policy says is learned, and traces that share a row are apart."""

from __future__ import annotations

from itertools import islice

import pytest
import torch
from rods_grpo_trl.tiny.corpus import Trace, read_corpus, reference_messages, trace
from rods_grpo_trl.tiny.model import TinySize
from rods_grpo_trl.tiny.policy import TinyPolicy, untrained
from rods_grpo_trl.tiny.training import Packed, SupervisedOptimizer, said_loss

from rods.interfaces import Environment
from rods.types import AssistantMessage, Task

SIZE = TinySize(
    hidden=32, layers=2, heads=2, kv_heads=2, mlp=48, context=96, vocabulary=320,
    tokenizer="syllables",
)  # fmt: skip


@pytest.fixture
def policy(notes: Environment) -> TinyPolicy:
    return untrained(notes, read_corpus(notes, 0, 40), SIZE, seed=0)


@pytest.fixture
def traces(notes: Environment, policy: TinyPolicy) -> list[Trace]:
    """Traces of one and of two turns."""
    tasks = list(islice(notes.practice(3), 8))
    short = [t.model_copy(update={"turns": t.turns[:1]}) for t in tasks[:4]]
    found = [trace(notes, task, policy.dialect, 96) for task in short + tasks[4:]]
    return [t for t in found if t is not None]


def test_packed_traces_do_not_see_each_other(policy: TinyPolicy, traces: list[Trace]) -> None:
    assert len(Packed.of(traces).ids) < len(traces)
    traces = [*traces, _repeated(traces[0], 12)]  # and one that is too long to share a row
    alone = sum(said_loss(policy.model, [t]) * sum(t.said) for t in traces)
    said = sum(sum(t.said) for t in traces)
    torch.testing.assert_close(said_loss(policy.model, traces), alone / said)


def _repeated(one: Trace, times: int) -> Trace:
    return Trace(ids=one.ids * times, said=one.said * times)


def test_the_loss_is_of_the_policys_own_tokens(policy: TinyPolicy, traces: list[Trace]) -> None:
    one = traces[0]
    logits = policy.model(input_ids=torch.tensor([one.ids])).logits[0]
    surprise = -torch.log_softmax(logits, -1)
    own = [surprise[i - 1, token] for i, token in enumerate(one.ids) if one.said[i]]
    torch.testing.assert_close(said_loss(policy.model, [one]), torch.stack(own).mean())


def test_steps_lower_the_loss(policy: TinyPolicy, traces: list[Trace]) -> None:
    optimizer = SupervisedOptimizer(policy.model, 0.02, 3e-3)
    losses = [optimizer.step(traces, 1.0) for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]


def test_a_reference_is_said_call_by_call_and_scores_one(
    notes: Environment, policy: TinyPolicy
) -> None:
    task = notes.tasks("train")[0]
    said = list(reference_messages(task))
    assert [len(m.calls) for m in said] == [1, 1, 1]
    assert [m.ends_turn for m in said] == [True, False, True]


def test_a_turn_without_reference_is_ended_at_once(notes: Environment) -> None:
    task = notes.tasks("train")[0]
    idle = task.model_copy(update={"turns": (task.turns[0].model_copy(update={"reference": ()}),)})
    assert list(reference_messages(idle)) == [AssistantMessage(ends_turn=True)]


def test_a_trace_shows_user_result_and_call_once(notes: Environment, policy: TinyPolicy) -> None:
    task: Task = notes.tasks("train")[0]
    found = trace(notes, task, policy.dialect, 96)
    assert found is not None
    backend = policy.tokenizer.backend_tokenizer
    read = backend.decode(found.ids, skip_special_tokens=False)
    write, copy = (turn.user for turn in task.turns)
    calls = [call.arguments for turn in task.turns for call in turn.reference]
    assert read == (
        f"<user> {write}<assistant> write {calls[0]['title']} {calls[0]['text']}<end><tool> ok"
        f"<user> {copy}<assistant> read {calls[1]['title']}<go><tool> {calls[2]['text']}"
        f"<assistant> write {calls[2]['title']} {calls[2]['text']}<end>"
    )
    said = backend.decode([i for i, own in zip(found.ids, found.said, strict=True) if own],
                          skip_special_tokens=False)  # fmt: skip
    assert said.startswith(f" write {calls[0]['title']}")
    assert "<user>" not in said


def test_a_reference_that_does_not_fit_is_no_trace(notes: Environment, policy: TinyPolicy) -> None:
    assert trace(notes, notes.tasks("train")[0], policy.dialect, 20) is None


def test_the_corpus_knows_texts_values_and_whether_tasks_repeat(notes: Environment) -> None:
    corpus = read_corpus(notes, 0, 30)
    assert corpus.fresh
    assert any(text.startswith(" copy") for text in corpus.texts)
    assert {"bake", "dimo"} <= set(corpus.values)
    assert read_corpus(notes, 0, 30).digest == corpus.digest != read_corpus(notes, 1, 30).digest
