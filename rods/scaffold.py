"""``rods new``: a complete plugin from a template, whole or not at all.

A template is a package that works as it stands, in ``rods/templates``; only its name is exchanged.
"""

from __future__ import annotations

import keyword
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from rods.errors import ConfigError, UserError

TEMPLATES = Path(__file__).parent / "templates"
# What is made -> the name that stands everywhere in its template.
KINDS: Mapping[str, str] = {
    "environment": "my-world",
    "trainer": "my-trainer",
    "selector": "my-selector",
    "stage": "my-stage",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST = 32  # a longer one would break lines of the template that fit as they are
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info", "build")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One name as a distribution, as a module and as the beginning of a class."""

    name: str

    @property
    def module(self) -> str:
        """``my_world``."""
        return self.name.replace("-", "_")

    @property
    def title(self) -> str:
        """``MyWorld``."""
        return "".join(part.capitalize() for part in self.name.split("-"))

    def of(self, other: Spelling, text: str) -> str:
        """The text with each spelling of ``other`` become that of this name."""
        spellings = {
            other.name: self.name,
            other.module: self.module,
            other.title: self.title,
        }
        found = re.compile("|".join(map(re.escape, spellings)))
        return found.sub(lambda match: spellings[match.group()], text)


def write_plugin(kind: str, name: str, parent: Path) -> list[Path]:
    """The files of the new folder ``parent/name``, sorted; on any fault there is none."""
    refuse_name(name)
    if not parent.is_dir():
        raise ConfigError(f"{parent} is no folder; make it first, or leave --dir out.")
    target = parent / name
    if target.exists() or target.is_symlink():
        raise ConfigError(f"{target} exists already; choose another name or another --dir.")
    try:
        _write(kind, Spelling(name), target)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror or error}.") from error
    return sorted(path for path in target.rglob("*") if path.is_file())


def refuse_name(name: str) -> None:
    """Return for a name that is free and can be a distribution and a module."""
    spelling = Spelling(name)
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise ConfigError(
            f"{name[:60]!r} cannot be a plugin's name; take up to {_LONGEST} small letters, digits "
            f"and single dashes, such as my-world."
        )
    if keyword.iskeyword(spelling.module) or spelling.module in sys.stdlib_module_names:
        raise ConfigError(f"{name!r} is a word of Python itself; try {name}-world.")
    if any(point.name == name for point in entry_points(group="rods")):
        raise ConfigError(f"A plugin {name!r} is installed already; choose another name.")
    if find_spec(spelling.module) is not None:
        raise ConfigError(f"A module {spelling.module!r} is installed already; try {name}-world.")


def _write(kind: str, name: Spelling, target: Path) -> None:
    """Everything is written beside the target and moved there as the last step."""
    old = Spelling(KINDS[kind])
    with tempfile.TemporaryDirectory(prefix=f".{name.name}.", dir=target.parent) as folder:
        draft = Path(folder) / name.name
        shutil.copytree(TEMPLATES / kind, draft, ignore=_LEFT_OUT)
        for path in sorted(draft.rglob("*"), reverse=True):  # what lies deeper first
            if path.is_file():
                path.write_text(name.of(old, path.read_text(encoding="utf-8")), encoding="utf-8")
            path.rename(path.with_name(name.of(old, path.name)))
        draft.rename(target)
