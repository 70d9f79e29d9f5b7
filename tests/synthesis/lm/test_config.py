"""[synthesis.lm]: a default model, stages of their own, ensembles."""

from __future__ import annotations

from pathlib import Path

import pytest

from rods.config import load_settings, to_toml
from rods.errors import ConfigError
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.service import SynthesisConfig
from rods.types import Stage

TABLE = """
[synthesis.lm]
model = "openai/big"
url = "http://one/v1"
price_in = 0.5
stages = ["plan", "rewrite"]

[synthesis.lm.rewrite]
model = ["openai/a", "openai/b"]
temperature = 1.0

[[synthesis.lm.critique]]
model = "openai/judge"
[[synthesis.lm.critique]]
model = "openai/other"
url = "http://two/v1"
"""


def built(tmp_path: Path, text: str, *overrides: str) -> SynthesisConfig:
    (tmp_path / "rods.toml").write_text(text)
    settings = load_settings(tmp_path / "rods.toml", overrides)
    return settings.build("synthesis", SynthesisConfig)


def models(config: LmConfig, stage: Stage) -> list[tuple[str, str, float]]:
    return [(m.model[0], m.url, m.temperature) for m in config.of(stage)]


def test_a_stage_follows_the_default_unless_it_says_otherwise(tmp_path: Path) -> None:
    config = built(tmp_path, TABLE).lm
    assert models(config, Stage.PLAN) == [("openai/big", "http://one/v1", 0.7)]
    assert models(config, Stage.REWRITE) == [
        ("openai/a", "http://one/v1", 1.0),
        ("openai/b", "http://one/v1", 1.0),
    ]
    assert models(config, Stage.CRITIQUE) == [
        ("openai/judge", "http://one/v1", 0.7),
        ("openai/other", "http://two/v1", 0.7),
    ]
    assert config.of(Stage.AUGMENT) == ()
    assert {m.price_in for stage in Stage for m in config.of(stage)} == {0.5}


def test_without_a_model_no_stage_has_one() -> None:
    assert not LmConfig().used
    assert SynthesisConfig().lm == LmConfig()


def test_the_resolved_table_reads_equal(tmp_path: Path) -> None:
    first = built(tmp_path, TABLE)
    again = built(tmp_path, to_toml({"synthesis": first.model_dump(mode="json")}))
    for stage in Stage:
        assert again.lm.of(stage) == first.lm.of(stage)


def test_a_key_can_be_set_on_the_command_line(tmp_path: Path) -> None:
    config = built(tmp_path, TABLE, "synthesis.lm.plan.model=openai/small").lm
    assert models(config, Stage.PLAN) == [("openai/small", "http://one/v1", 0.7)]


def test_a_wrong_key_of_a_stage_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"synthesis.lm.rewrite.0.temprature.*temperature"):
        built(tmp_path, "[synthesis.lm.rewrite]\ntemprature = 1")
