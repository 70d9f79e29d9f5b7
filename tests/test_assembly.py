"""From settings to parts: presets, names, and a resolved file that loads equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from rods.assembly import assemble
from rods.config import to_toml
from rods.errors import ConfigError, PluginError
from rods.selectors import UniformSelector
from rods.testing import write_distribution


def test_without_a_file_the_plugins_demo_settings_are_the_defaults(stockroom: str) -> None:
    assembly = assemble(stockroom)
    assert assembly.run.preset == ("demo",)
    assert assembly.curriculum.epoch_size == 8
    assert assembly.synthesis.mode == "sync"
    assert assembly.component("synthesizer").name == "renamer"
    assert assembly.config("trainer").skill == 0.45


def test_what_is_set_wins_over_a_preset(stockroom: str) -> None:
    assembly = assemble(stockroom, overrides=["curriculum.epoch_size=12", "trainer.skill=0.9"])
    assert assembly.curriculum.epoch_size == 12
    assert assembly.config("trainer").skill == 0.9
    assert assembly.evaluation.tasks == 8


def test_a_file_takes_no_demo_settings_unless_it_asks(stockroom: str, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(f"[run]\nplugins = ['{stockroom}']\n")
    assert assemble(config=file).curriculum.epoch_size == 64
    file.write_text(f"[run]\nplugins = ['{stockroom}']\npreset = 'demo'\n")
    assert assemble(config=file).curriculum.epoch_size == 8


def test_none_takes_neither(stockroom: str) -> None:
    assembly = assemble(stockroom, flags={"run.preset": ["none"]})
    assert (assembly.run.preset, assembly.curriculum.epoch_size) == ((), 64)


def test_the_paper_preset_has_the_published_rules(stockroom: str) -> None:
    assembly = assemble(stockroom, flags={"run.preset": ["demo", "paper"]})
    assert assembly.curriculum.redraw == "never"
    assert assembly.config("selector").require_variance is False
    assert assembly.config("buffer").flat_visits == 0
    assert assembly.curriculum.epoch_size == 8


def test_a_preset_for_one_component_does_not_reach_another(stockroom: str) -> None:
    flags = {"run.preset": ["paper"]}
    assembly = assemble(stockroom, overrides=["selector.name=uniform"], flags=flags)
    assert assembly.component("selector") is UniformSelector
    assert not hasattr(assembly.config("selector"), "require_variance")


def test_an_unknown_preset_comes_with_the_nearest_one(stockroom: str) -> None:
    with pytest.raises(ConfigError, match=r"No preset 'papre' \(--preset\). Did you mean 'paper'"):
        assemble(stockroom, flags={"run.preset": ["papre"]})


def test_no_plugin_at_all_is_a_hint(stockroom: str) -> None:
    with pytest.raises(ConfigError, match=r"No plugin is named; try --plugins"):
        assemble()


def test_an_unknown_component_is_named_with_what_is_loaded(stockroom: str) -> None:
    assembly = assemble(stockroom, overrides=["selector.name=boundry"])
    with pytest.raises(
        PluginError, match=r"No selector 'boundry' is loaded\. Did you mean 'boundary'"
    ):
        assembly.component("selector")


def test_a_resolved_configuration_loads_equal(stockroom: str, tmp_path: Path) -> None:
    overrides = ["trainer.group_size=6", "curriculum.stages=[{name='base', kinds=['base']}]"]
    resolved = assemble(stockroom, overrides=overrides).resolved()
    file = tmp_path / "config.toml"
    file.write_text(to_toml(resolved))
    again = assemble(config=file)
    assert again.resolved() == resolved
    assert to_toml(again.resolved()) == file.read_text()


PLAIN = """
import rods
from rods.testing import FakeEnvironment, FakeTrainer

class Plain(FakeEnvironment):
    "A world that offers no presets."
    name = "plain"

@rods.hookimpl
def rods_register_environments():
    return [Plain]

@rods.hookimpl
def rods_register_trainers():
    return [FakeTrainer]
"""


def test_a_world_without_presets_needs_none_when_its_run_is_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"plain_{tmp_path.name}".replace("-", "_")
    points = {"rods": {"plain": module}}
    write_distribution(tmp_path, "acme-plain", points, modules={f"{module}.py": PLAIN})
    monkeypatch.syspath_prepend(tmp_path)
    first = assemble("plain")
    assert first.run.preset == ()
    file = tmp_path / "config.toml"
    file.write_text(to_toml(first.resolved()))
    assert assemble(config=file).resolved() == first.resolved()
    with pytest.raises(ConfigError, match=r"No preset 'demo' \(--preset\). Known: none, paper"):
        assemble("plain", flags={"run.preset": ["demo"]})


def test_epochs_are_those_of_the_only_stage(stockroom: str) -> None:
    assembly = assemble(stockroom, overrides=['curriculum.stages=[{kinds=["base"]}]'])
    assembly.set_epochs(3)
    (stage,) = assembly.curriculum.stages
    assert (stage.epochs, stage.kinds) == (3, ("base",))
    assert assembly.resolved()["curriculum"]["stages"][0]["epochs"] == 3


def test_epochs_of_several_stages_are_not_guessed(stockroom: str) -> None:
    stages = "curriculum.stages=[{name='a',epochs=2},{name='b'}]"
    assembly = assemble(stockroom, overrides=[stages])
    with pytest.raises(ConfigError, match=r"this run has 2: 'a' \(2\), 'b' \(5\)\."):
        assembly.set_epochs(3)
