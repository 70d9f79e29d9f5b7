"""Inside ``of(stage, key)`` dspy calls use the stage's model, and every call is counted."""

from __future__ import annotations

import contextvars
import copy
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dspy
import pytest

from rods.errors import ConfigError, ModelOutage
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.lm.scripted import ScriptedEngine
from rods.types import Stage

ANSWER = json.dumps({"request": "Please do.", "score": 4})


def scripted(reply: Any = lambda _: ANSWER, **config: Any) -> tuple[LanguageModels, ScriptedEngine]:
    engine = ScriptedEngine(reply)
    settings = LmConfig.model_validate({"model": "openai/a", "retries": 0, **config})
    return LanguageModels.scripted(engine, settings), engine


def test_a_predictor_uses_the_stages_model_and_gets_its_schema(ask: dspy.Predict) -> None:
    models, engine = scripted()
    with models.of(Stage.REWRITE, "seed-1"):
        said = ask(what="lights off")
    assert (said.request, said.score) == ("Please do.", 4)
    assert "lights off" in engine.requests[0]
    assert set(engine.schemas[0]["schema"]["properties"]) == {"request", "score"}


def test_outside_there_is_no_model(ask: dspy.Predict) -> None:
    models, _ = scripted()
    with models.of(Stage.REWRITE, "seed-1"):
        pass
    assert dspy.settings.lm is None


def test_plain_threads_have_their_stages_too(ask: dspy.Predict) -> None:
    models, engine = scripted()
    heard: list[int] = []

    def work() -> None:
        with models.counting() as meter, models.of(Stage.PLAN, "k"):
            ask(what="x")
        heard.append(meter.calls)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [1, 1, 1, 1]
    assert len(engine.requests) == 4


def test_equal_keys_take_equal_members_and_all_members_have_their_turn() -> None:
    models, _ = scripted(model=["openai/a", "openai/b", "openai/c"])
    names = [models.name(Stage.CRITIQUE, f"seed-{i}") for i in range(60)]
    assert set(names) == {"openai/a", "openai/b", "openai/c"}
    assert names == [models.name(Stage.CRITIQUE, f"seed-{i}") for i in range(60)]


def test_a_stage_without_a_model_says_so() -> None:
    models, _ = scripted(stages=["plan"])
    assert (models.has(Stage.PLAN), models.has(Stage.REWRITE)) == (True, False)
    with pytest.raises(ConfigError, match=r"'rewrite' has no language model"):
        models.name(Stage.REWRITE, "k")


def test_the_bill_is_by_stage_and_backbone(ask: dspy.Predict) -> None:
    models, engine = scripted(price_in=2.0, price_out=1_000_000.0)
    with models.counting() as outer:
        for stage in (Stage.PLAN, Stage.REWRITE, Stage.REWRITE):
            with models.counting() as inner, models.of(stage, "k"):
                ask(what="x")
    assert inner.calls == 1
    plan, rewrite = outer.rows()
    assert (plan.stage, plan.calls, rewrite.stage, rewrite.calls) == ("plan", 1, "rewrite", 2)
    sent = len(engine.requests[0].split())
    assert (plan.tokens_in, plan.tokens_out) == (sent, len(ANSWER.split()))
    assert plan.price == pytest.approx(sent * 2e-6 + plan.tokens_out)
    assert outer.tokens == 3 * (plan.tokens_in + plan.tokens_out)
    assert outer.seconds > 0


def test_programs_share_models_and_bills_with_their_copies(ask: dspy.Predict) -> None:
    models, engine = scripted()
    assert copy.deepcopy(models) is models
    copied = copy.deepcopy(ask)
    with models.counting() as meter, models.of(Stage.PLAN, "k"):
        copied(what="x")
    assert (meter.calls, len(engine.requests)) == (1, 1)


def test_a_thread_pool_with_the_context_is_counted(ask: dspy.Predict) -> None:
    models, _ = scripted()
    with models.counting() as meter, models.of(Stage.PLAN, "k"), ThreadPoolExecutor(3) as pool:
        jobs = [
            pool.submit(contextvars.copy_context().run, lambda: ask(what="x")) for _ in range(3)
        ]
        assert [job.result().score for job in jobs] == [4, 4, 4]
    assert meter.calls == 3


def test_an_answer_of_another_form_costs_one_call(ask: dspy.Predict) -> None:
    for adapter in ("json", "chat", "plain"):
        models, engine = scripted(lambda _: "I am afraid", adapter=adapter)
        with (
            pytest.raises(dspy.utils.exceptions.AdapterParseError),
            models.of(Stage.PLAN, "k"),
        ):
            ask(what="x")
        assert len(engine.requests) == 1, adapter


def test_the_plain_adapter_shows_demonstrations_as_a_conversation(say: dspy.Predict) -> None:
    models, engine = scripted(lambda _: " Dim the lights. \n", adapter="plain")
    say.demos = [dspy.Example(what="door", request="Shut the door.")]
    with models.of(Stage.REWRITE, "k"):
        assert say(what="lights").request == "Dim the lights."
    assert engine.requests == [
        "Say it as a user would.\n\nwhat: door\n\nShut the door.\n\nwhat: lights"
    ]
    assert engine.schemas == [None]


# ------------------------------------------------------------------ outages
def gone(_: str) -> str:
    raise ConnectionError("nobody there")


def test_a_model_that_stays_away_is_an_outage_and_not_data(ask: dspy.Predict) -> None:
    models, engine = scripted(gone, retries=1, outage_s=60)
    with pytest.raises(ModelOutage, match="did not answer in 2 tries"), models.of(Stage.PLAN, "k"):
        ask(what="x")
    assert len(engine.requests) == 2


def test_during_the_pause_nobody_asks_again_and_after_it_somebody_does(ask: dspy.Predict) -> None:
    models, engine = scripted(gone, outage_s=60)
    for _ in range(3):
        with pytest.raises(ModelOutage) as caught, models.of(Stage.PLAN, "k"):
            ask(what="x")
        assert 50 < caught.value.retry_after_s <= 60
    assert len(engine.requests) == 1
    models, engine = scripted(gone, outage_s=0)
    for _ in range(3):
        with pytest.raises(ModelOutage), models.of(Stage.PLAN, "k"):
            ask(what="x")
    assert len(engine.requests) == 3


def test_a_bug_in_an_engine_is_no_outage(ask: dspy.Predict) -> None:
    models, _ = scripted(lambda _: [][0])
    with pytest.raises(dspy.utils.exceptions.LMError), models.of(Stage.PLAN, "k"):
        ask(what="x")


# ------------------------------------------------------------------ what is loaded
_PARTS = """
import sys; sys.path.insert(0, "installed")
import rods
from rods.cli import rods as command
command.main(["synth", "--help"], standalone_mode=False)
from rods.assembly import assemble
parts = assemble("stockroom")
parts.language_models(), parts.synthesizer(parts.environment())
from rods.synthesis.service import SynthesisService
assert not {"dspy", "litellm", "xllamacpp"} & set(sys.modules)
"""


def test_without_a_model_dspy_is_not_loaded(stockroom: str) -> None:
    done = subprocess.run([sys.executable, "-c", _PARTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
