"""A real HTTP server: what is sent, what failures mean, what a preflight says."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import dspy
import pytest

from rods.errors import ConfigError, ModelOutage
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.lm.preflight import lm_checks, require_models
from rods.testing.model_server import ModelServer
from rods.types import Stage


def config(server: ModelServer, **more: Any) -> LmConfig:
    values = {"model": "openai/tiny", "url": server.url, "retries": 0, "outage_s": 0, **more}
    return LmConfig.model_validate(values)


def test_the_server_gets_model_limits_and_json_schema(
    server: ModelServer, ask: dspy.Predict
) -> None:
    models = LanguageModels(config(server, temperature=0.3, top_p=0.9, max_tokens=77))
    with models.counting() as meter, models.of(Stage.REWRITE, "k"):
        assert ask(what="x").score == 4
    (body,) = server.requests
    assert (body["model"], body["temperature"], body["top_p"], body["max_tokens"]) == (
        "tiny",
        0.3,
        0.9,
        77,
    )
    schema = body["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]) == {"request", "score"}
    assert (meter.calls, meter.rows()[0].model) == (1, "openai/tiny")


_CALL = """
import sys, dspy
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.types import Stage
models = LanguageModels(LmConfig(model="openai/tiny", url=sys.argv[1]))
with models.of(Stage.PLAN, "k"):
    print(dspy.Predict("what -> request, score: int")(what="x").score)
assert "litellm" not in sys.modules
"""


def test_litellm_is_not_loaded(server: ModelServer) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CALL, server.url], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("4\n", 0), done.stderr


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_busy_server_is_asked_again_and_then_left_alone(
    server: ModelServer, ask: dspy.Predict, status: int
) -> None:
    server.fail_with = status
    models = LanguageModels(config(server, retries=1, outage_s=60))
    for _ in range(2):
        with pytest.raises(ModelOutage, match="did not answer"), models.of(Stage.PLAN, "k"):
            ask(what="x")
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_server_that_refuses_everybody_is_an_outage_without_retries(
    server: ModelServer, ask: dspy.Predict, status: int
) -> None:
    server.fail_with = status
    models = LanguageModels(config(server, retries=3))
    with pytest.raises(ModelOutage, match="refuses every request"), models.of(Stage.PLAN, "k"):
        ask(what="x")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 500])
def test_a_request_that_a_server_cannot_take_is_no_outage(
    server: ModelServer, ask: dspy.Predict, status: int
) -> None:
    server.fail_with = status
    models = LanguageModels(config(server, retries=3, outage_s=60))
    with pytest.raises(dspy.utils.exceptions.LMError), models.of(Stage.PLAN, "k"):
        ask(what="x")
    server.fail_with = 0
    with models.of(Stage.PLAN, "k"):
        assert ask(what="x").score == 4


def test_a_server_that_hangs_is_an_outage(ask: dspy.Predict) -> None:
    def slowly(_: dict[str, Any]) -> str:
        time.sleep(1)
        return "{}"

    with ModelServer(slowly) as server:
        models = LanguageModels(config(server, timeout_s=0.2))
        with pytest.raises(ModelOutage), models.of(Stage.PLAN, "k"):
            ask(what="x")


def test_a_server_that_comes_back_is_used_again(server: ModelServer, ask: dspy.Predict) -> None:
    models = LanguageModels(config(server))
    with models.of(Stage.PLAN, "k"):
        ask(what="x")
    server.stop()
    with pytest.raises(ModelOutage, match="refused"), models.of(Stage.PLAN, "k"):
        ask(what="x")
    server.start()
    with models.of(Stage.PLAN, "k"):
        assert ask(what="x").score == 4


# ------------------------------------------------------------------ preflight
def test_the_preflight_passes_what_is_served(server: ModelServer) -> None:
    (check,) = lm_checks(config(server, rewrite={"temperature": 1.0, "model": "openai/tiny"}))
    assert (check.ok, check.detail) == (True, f"{server.url} serves tiny")
    assert list(lm_checks(LmConfig())) == []


def test_the_preflight_names_what_the_server_has(server: ModelServer) -> None:
    with pytest.raises(ConfigError, match=r"does not serve 'huge', but tiny -> --lm openai/NAME"):
        require_models(config(server, model="openai/huge"))


def test_the_preflight_names_a_server_that_is_away(server: ModelServer) -> None:
    server.stop()
    with pytest.raises(ConfigError, match=r"No server answers at http.*refused"):
        require_models(config(server))
    with pytest.raises(ConfigError, match=r"begins with http:// or https://"):
        require_models(config(server, url="localhost:8000"))


def test_the_preflight_names_a_key_that_is_missing_or_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"wants a key and \$OPENAI_API_KEY is not set"):
        require_models(LmConfig(model=("openai/some",)))
    with ModelServer(lambda _: "{}", key="right") as server:
        monkeypatch.setenv("MY_KEY", "wrong")
        with pytest.raises(ConfigError, match=r"refuses the key in \$MY_KEY"):
            require_models(config(server, api_key_env="MY_KEY"))
        monkeypatch.setenv("MY_KEY", "right")
        require_models(config(server, api_key_env="MY_KEY"))


def test_the_preflight_knows_names_of_models() -> None:
    with pytest.raises(ConfigError, match=r"'gpt' is no model's name"):
        require_models(LmConfig(model=("gpt",)))
