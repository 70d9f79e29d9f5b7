"""Settings: who wins, what is refused, and that a resolved file loads equal."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from rods.config import (
    EvaluationConfig,
    RunConfig,
    Settings,
    Table,
    load_settings,
    parse_override,
    parse_value,
    to_toml,
)
from rods.errors import ConfigError


class Stage(BaseModel, extra="forbid"):
    name: str = "all"
    epochs: int = Field(5, ge=1)


class Sampling(BaseModel, extra="forbid"):
    temperature: float = 1.0
    top_p: float | None = None


class TrainerConfig(Table):
    group_size: int = Field(8, ge=2)
    mode: Literal["plain", "vllm"] = "plain"
    sampling: Sampling = Sampling()
    stages: tuple[Stage, ...] = Field((Stage(),), min_length=1)
    folder: Path | None = None
    files: tuple[str, ...] = ()


def settings(tmp_path: Path, text: str, *overrides: str, **flags: object) -> Settings:
    file = tmp_path / "run.toml"
    file.write_text(text)
    return load_settings(file, overrides, {k.replace("__", "."): v for k, v in flags.items()})


def refusal(loaded: Settings, table: str = "trainer") -> str:
    with pytest.raises(ConfigError) as caught:
        loaded.build(table, TrainerConfig)
    return str(caught.value)


def test_an_override_beats_a_flag_and_a_flag_beats_the_file(tmp_path: Path) -> None:
    text = "[run]\nseed = 1\npreset = 'paper'\nplugins = ['a']\n"
    loaded = settings(tmp_path, text, "run.seed=3", run__seed=2, run__plugins=["b"])
    assert loaded.build("run", RunConfig) == RunConfig(plugins=("b",), seed=3, preset=("paper",))


def test_a_flag_that_was_not_given_changes_nothing(tmp_path: Path) -> None:
    loaded = settings(tmp_path, "[run]\nseed = 7\n", run__seed=None)
    assert loaded.build("run", RunConfig).seed == 7


def test_a_nested_key_changes_one_value_and_keeps_its_neighbours(tmp_path: Path) -> None:
    text = "[trainer.sampling]\ntemperature = 0.5\n"
    built = settings(tmp_path, text, "trainer.sampling.top_p=0.9").build("trainer", TrainerConfig)
    assert built.sampling == Sampling(temperature=0.5, top_p=0.9)


def test_presets_fill_in_only_what_is_not_set(tmp_path: Path) -> None:
    loaded = settings(tmp_path, "[trainer]\ngroup_size = 4\n[trainer.sampling]\ntop_p = 0.5\n")
    preset = {"trainer": {"group_size": 16, "mode": "vllm", "sampling": {"temperature": 0.1}}}
    loaded.underlay(preset, "preset 'demo'")
    built = loaded.build("trainer", TrainerConfig)
    assert (built.group_size, built.mode) == (4, "vllm")
    assert built.sampling == Sampling(temperature=0.1, top_p=0.5)


def test_the_name_of_a_component_is_not_one_of_its_options(tmp_path: Path) -> None:
    loaded = settings(tmp_path, "", "trainer.name=grpo-trl", "trainer.group_size=2")
    assert loaded.component("trainer") == "grpo-trl"
    assert loaded.build("trainer", TrainerConfig).group_size == 2


def test_an_unknown_table_fails_with_the_nearest_one_and_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'traner' \(.*run.toml\). Did you mean 'trainer'\?"):
        settings(tmp_path, "[traner]\nx = 1\n")


def test_an_unknown_key_fails_with_the_nearest_one_and_the_file(tmp_path: Path) -> None:
    message = refusal(settings(tmp_path, "[trainer]\ngroup_sise = 4\n"))
    assert message.startswith("Unknown key trainer.group_sise (")
    assert message.endswith("run.toml). Did you mean 'group_size'?")


def test_an_unknown_key_deep_inside_is_compared_with_its_own_neighbours(tmp_path: Path) -> None:
    message = refusal(settings(tmp_path, "", "trainer.stages=[{epoch = 2}]"))
    assert "Unknown key trainer.stages.0.epoch" in message
    assert "Did you mean 'epochs'?" in message


def test_every_wrong_value_is_a_line_with_key_value_source_and_expectation(tmp_path: Path) -> None:
    loaded = settings(tmp_path, "[trainer]\nmode = 'fast'\n", "trainer.group_size=many")
    wrong_size, wrong_mode = refusal(loaded).splitlines()
    assert wrong_mode.startswith("trainer.mode = 'fast' (")
    assert "'plain' or 'vllm'" in wrong_mode
    assert wrong_size.startswith(
        "trainer.group_size = 'many' (-o trainer.group_size=many): expected"
    )


def test_a_value_outside_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'seed'.*outside a table"):
        settings(tmp_path, "seed = 1\n")


def test_a_file_that_is_no_toml_is_named_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.toml is not valid TOML: .*line 1"):
        settings(tmp_path, "[run\n")


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    deep = "[" * 20_000
    with pytest.raises(ConfigError, match=r"run\.toml is nested too deeply"):
        settings(tmp_path, f"[run]\nseed = {deep}")
    with pytest.raises(ConfigError, match=r"The value \[+\.\.\. is nested too deeply"):
        parse_override(f"run.seed={deep}")


def test_the_byte_order_mark_of_an_editor_is_no_fault(tmp_path: Path) -> None:
    assert settings(tmp_path, "\ufeff[run]\nseed = 1\n").values == {"run": {"seed": 1}}


def test_a_faulty_item_is_one_line_and_its_list_is_not_called_empty(tmp_path: Path) -> None:
    message = refusal(settings(tmp_path, "", "trainer.stages=[{epochs = 0}]"))
    assert message.startswith("trainer.stages.0.epochs = 0 (")
    assert "\n" not in message


def test_an_empty_list_is_refused(tmp_path: Path) -> None:
    assert "at least 1 item" in refusal(settings(tmp_path, "", "trainer.stages=[]"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Cannot read .*absent\.toml: No such file"):
        load_settings(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("trainer.epochs=3", "It belongs to trainer.stages: -o 'trainer.stages=[{epochs=...}]'."),
        ("trainer.top_p=1", "It belongs to trainer.sampling: -o trainer.sampling.top_p=..."),
        ("trainer.stages=3", 'expected a list, such as [{name = "all", epochs = 5}].'),
        ("trainer.stages.epochs=3", "expected a list, such as [{epochs = 3}]."),
        ("trainer.stages=[3]", 'expected a table, such as {name = "all", epochs = 5}.'),
        ("trainer.sampling=3", "expected a table, such as {temperature = 1.0}."),
        ("trainer.files=a.py", 'expected a list, such as ["a.py"].'),
        ("trainer.stages=[]", "expected at least 1 item."),
        ("trainer.files=3", 'expected a list, such as ["...", "..."].'),
    ],
)
def test_what_was_meant_is_shown_as_it_is_written(override: str, said: str) -> None:
    assert refusal(load_settings(overrides=[override])).endswith(said)


@pytest.mark.parametrize("text", ["seed", "seed=1", "=1", "run.=1", ".seed=1"])
def test_an_override_needs_a_table_a_key_and_a_value(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected table\.key=value"):
        parse_override(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("1e-6", 1e-6),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('"8"', "8"),
        ("{a = 1}", {"a": 1}),
        ("Qwen/Qwen3-4B", "Qwen/Qwen3-4B"),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
        ("a=b", "a=b"),
    ],
)
def test_values_are_toml_literals_or_plain_text(text: str, value: object) -> None:
    assert parse_value(text) == value


@given(
    st.builds(
        TrainerConfig,
        group_size=st.integers(2, 10**6),
        mode=st.sampled_from(["plain", "vllm"]),
        sampling=st.builds(
            Sampling,
            temperature=st.floats(allow_nan=False),
            top_p=st.none() | st.floats(allow_nan=False),
        ),
        stages=st.lists(
            st.builds(Stage, name=st.text(), epochs=st.integers(1, 9)), min_size=1, max_size=3
        ).map(tuple),
        folder=st.none() | st.just(Path("a/b")),
    )
)
def test_a_resolved_table_loads_equal(config: TrainerConfig) -> None:
    text = to_toml({"trainer": config.model_dump(mode="json")})
    loaded = Settings(values=tomllib.loads(text))
    assert loaded.build("trainer", TrainerConfig) == config


def test_the_evaluation_can_be_switched_off() -> None:
    loaded = load_settings(overrides=["evaluation.tasks=0"])
    assert loaded.build("evaluation", EvaluationConfig).tasks == 0
