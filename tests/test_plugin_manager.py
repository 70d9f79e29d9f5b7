"""Plugins from real distributions: what is found, what is loaded, and each way to be broken."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.errors import PluginError
from rods.plugin_manager import Plugins, installed, load_plugins
from rods.testing import write_distribution

WORLD = """
import rods
from rods.testing.world import FakeEnvironment

class World(FakeEnvironment):
    name = "{name}"

@rods.hookimpl
def rods_register_environments():
    return [World]
"""

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution with one plugin on the path; each gets a folder of its own."""

    def write(name: str, source: str, plugin: str | None = None, **options: object) -> Path:
        folder = tmp_path / name
        module = f"{name.replace('-', '_')}_{tmp_path.name}"
        points = {"rods": {plugin or name: module}}
        write_distribution(folder, name, points, modules={f"{module}.py": source}, **options)  # type: ignore[arg-type]
        monkeypatch.syspath_prepend(folder)
        return folder

    return write


def refusal(*names: str) -> str:
    with pytest.raises(PluginError) as caught:
        load_plugins(names)
    return str(caught.value)


def test_discovery_imports_nothing(install: Install, tmp_path: Path) -> None:
    install("acme-world", "raise SystemExit('imported')", plugin="acme")
    (entry,) = installed()["acme"]
    assert (entry.distribution, entry.version) == ("acme-world", "1.0")


def test_only_named_plugins_and_the_built_in_are_imported(install: Install, tmp_path: Path) -> None:
    install("acme-world", WORLD.format(name="acme"), plugin="acme")
    install("other", "raise SystemExit('imported')")
    plugins = load_plugins(["acme"])
    assert [entry.name for entry in plugins.entries] == ["builtin", "acme"]
    assert f"other_{tmp_path.name}" not in sys.modules


def test_a_plugin_named_twice_is_loaded_once(install: Install) -> None:
    install("acme", WORLD.format(name="acme"))
    assert [entry.name for entry in load_plugins(["acme", "acme"]).entries] == ["builtin", "acme"]


def test_an_unknown_name_comes_with_the_nearest_one(install: Install) -> None:
    install("acme-world", WORLD.format(name="acme"), plugin="stockroom")
    assert refusal("stokroom") == ("No plugin 'stokroom' is installed. Did you mean 'stockroom'?")


def test_a_plugin_that_was_never_installed_says_how(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme-world", WORLD.format(name="acme"), plugin="stockroom")
    assert refusal("greenhouse").endswith("with `pip install -e FOLDER`, anew if its name changed.")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert "`pip install -e ./shop` installs what is in that folder" in refusal("./shop")


def test_a_folder_that_hides_the_module_is_named(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (module,) = install("acme-world", "", plugin="acme").glob("acme_world_*.py")
    module.unlink()  # as an editable installation has it: elsewhere, found after the path
    (tmp_path / module.stem).mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert f"{module.stem} is found in place of its module" in refusal("acme")


def test_one_name_in_two_distributions_is_refused_with_both(install: Install) -> None:
    install("acme-one", WORLD.format(name="one"), plugin="acme")
    install("acme-two", WORLD.format(name="two"), plugin="acme")
    assert refusal("acme") == (
        "Plugin 'acme' is in two distributions, acme-two 1.0 and acme-one 1.0; uninstall one."
    )


def test_a_component_registered_twice_names_both_plugins(install: Install) -> None:
    install("one", WORLD.format(name="acme"))
    install("two", WORLD.format(name="acme"))
    message = refusal("one", "two")
    assert "environment 'acme' is registered twice" in message
    assert "'one' (one 1.0)" in message
    assert "'two' (two 1.0)" in message


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import does_not_exist", "cannot be imported: ModuleNotFoundError: No module named"),
        ("raise ValueError('one\\ntwo')", "cannot be imported: ValueError: one two"),
        ("raise SystemExit(0)", "cannot be imported: SystemExit: 0"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        (
            "import rods\n@rods.hookimpl\ndef rods_register_enviroments(): return []",
            "rods_register_enviroments is unknown. Did you mean 'rods_register_environments'?",
        ),
        (
            "import rods\n@rods.hookimpl\ndef rods_step_finished(step): pass",
            "has a wrong hook: .*rods_step_finished.*step",
        ),
        (
            "import rods\n@rods.hookimpl\ndef rods_register_trainers(): import nowhere",
            "failed in rods_register_trainers: ModuleNotFoundError",
        ),
        (
            "import rods\ndef rods_register_selectors(): return []",
            "has no hook: write @rods.hookimpl above",
        ),
        (
            "import rods\n@rods.hookimpl\ndef rods_register_selectors(): return rods.Selector",
            "failed in rods_register_selectors: TypeError: it returns a class; return a list",
        ),
        (
            "import rods\n@rods.hookimpl\ndef rods_register_selectors(): return [int]",
            "broken selector: .*int.* is not a subclass of rods.Selector",
        ),
        (
            "import rods\nclass Half(rods.Selector):\n    name = 'half'\n"
            "@rods.hookimpl\ndef rods_register_selectors(): return [Half]",
            r"broken selector: .*\.Half lacks the method select\.",
        ),
        (
            WORLD.replace('name = "{name}"', "pass")
            .replace("(FakeEnvironment)", "(Plain)")
            .replace("class World", "class Plain(FakeEnvironment):\n    name = ''\nclass World"),
            "has no name",
        ),
        (
            WORLD.format(name="acme") + "\nWorld.Config = dict",
            "Config is not a subclass of rods.interfaces.ComponentConfig",
        ),
        (
            WORLD.format(name="acme")
            + "\nclass Config(FakeEnvironment.Config):\n    name: str = ''\n"
            "World.Config = Config",
            "has a field 'name'",
        ),
        (
            WORLD.format(name="acme")
            + "\nclass Config(FakeEnvironment.Config):\n    x: 'Nowhere'\n"
            "World.Config = Config",
            "Config cannot be used: .*Nowhere",
        ),
    ],
)
def test_a_broken_plugin_is_one_line_with_its_distribution(
    install: Install, source: str, reason: str
) -> None:
    install("acme-world", source, plugin="acme")
    message = refusal("acme")
    assert message.startswith("Plugin 'acme' (acme-world 1.0) ")
    assert "\n" not in message
    assert re.search(reason, message), message


def test_a_plugin_for_another_version_of_rods_says_so(install: Install) -> None:
    install("acme", WORLD.format(name="acme"), requires=("rods>=99", "numpy"))
    assert refusal("acme").startswith("Plugin 'acme' (acme 1.0) needs rods>=99, this is rods 0.")


def test_what_is_registered_can_be_chosen_by_name(install: Install) -> None:
    install("acme", WORLD.format(name="acme"))
    install("other", WORLD.format(name="other"))
    plugins = load_plugins(["acme", "other"])
    assert plugins.choose("environment", "other").name == "other"
    assert choice(plugins, None).startswith(
        "Several environments are loaded: acme, other; choose one with -o environment.name=acme."
    )
    assert "No environment 'othr' is loaded. Did you mean 'other'?" in choice(plugins, "othr")


def test_the_only_one_needs_no_name_and_a_missing_kind_is_said(install: Install) -> None:
    install("acme", WORLD.format(name="acme"))
    plugins = load_plugins(["acme"])
    assert plugins.choose("environment", None).name == "acme"
    with pytest.raises(PluginError, match="No trainer is loaded"):
        plugins.choose("trainer", None)


def choice(plugins: Plugins, name: str | None) -> str:
    with pytest.raises(PluginError) as caught:
        plugins.choose("environment", name)
    return str(caught.value)
