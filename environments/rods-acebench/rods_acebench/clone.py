"""The user's clone of ACEBench: its files, their hashes, and its classes in a namespace of our own.

There is no package of ACEBench, so nothing is fetched or pinned: what a score was made from stands
in its data hashes. Code of the clone runs as the user's own; what a model says is never evaluated.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from rods.assets import Asset, AssetPin, FolderSource
from rods.errors import DataError
from rods.upstream import UpstreamModules

Language = Literal["en", "zh"]
Category = Literal["multi_step", "multi_turn"]

COMMIT = "e6db74b"
ROOT = "model_inference"  # the clone's package of classes
CLASS_FILES: Mapping[str, str] = {
    "BaseApi": "phone_platform/base_api",
    "MessageApi": "phone_platform/message",
    "ReminderApi": "phone_platform/reminder",
    "FoodPlatform": "phone_platform/food_services",
    "Travel": "travel",
}
CALLS_AS_TEXT: Mapping[Language, str] = {"en": "\nFunction Calls:", "zh": "\n函数调用："}
HOW_TO_GET = (
    "ACEBench has no package: run 'git clone https://github.com/ACEBench/ACEBench' (MIT; written "
    f"against commit {COMMIT}) and set -o environment.path=FOLDER."
)


class Clone:
    """The files of a clone that one language needs."""

    def __init__(self, path: Path, language: Language) -> None:
        if not (path / ROOT).is_dir():
            raise DataError(f"{path} holds no clone of ACEBench (no {ROOT}/). {HOW_TO_GET}")
        self.path, self.language = path, language
        self._read: dict[str, str] = {}
        self._modules: dict[Category, UpstreamModules] = {}

    @property
    def hashes(self) -> Mapping[str, str]:
        """Every file read so far -> SHA-256."""
        return dict(self._read)

    def records(self, category: Category, *, answers: bool = False) -> list[dict[str, Any]]:
        """The tasks of a category, or their answers: one JSON object a line."""
        folder = f"data_all/data_{self.language}" + ("/possible_answer" if answers else "")
        member = f"{folder}/data_agent_{category}.json"
        lines = enumerate(self._text(member).split("\n"), 1)  # a text may hold other separators
        return [self._record(member, number, line) for number, line in lines if line.strip()]

    def texts(self, member: str, names: Iterable[str]) -> dict[str, str]:
        """String constants of a module, read from its syntax: the module is not run."""
        found = {
            target.id: node.value.value
            for node in ast.parse(self._text(member)).body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name) and isinstance(node.value.value, str)
        }
        if missing := [name for name in names if name not in found]:
            raise DataError(f"{self.path / member} has no text {missing[0]}. {HOW_TO_GET}")
        return {name: found[name] for name in names}

    def rules(self, travel: bool) -> str:
        """Upstream's rules of the desk or the phone for a policy that talks with a user.

        Their last section prescribes calls as text, and is left out: calls are native here.
        """
        name = f"{'TRAVEL' if travel else 'BASE'}_PROMPT_{self.language.upper()}"
        text = self.texts(f"{ROOT}/prompt_{self.language}.py", [name])[name]
        return text.partition(CALLS_AS_TEXT[self.language])[0].strip()

    def classes(self, category: Category) -> dict[str, type[Any]]:
        """Name -> class, as this category plays with them."""
        package = f"{ROOT}.{category}.scenarios{self.language}"
        files = {name: f"{package}.{file.replace('/', '.')}" for name, file in CLASS_FILES.items()}
        if category not in self._modules:
            self._modules[category] = self._load(category, list(files.values()))
        modules = self._modules[category]
        try:
            return {name: vars(modules.load(file))[name] for name, file in files.items()}
        except Exception as error:  # code of the clone raises anything
            raise DataError(
                f"{self.path / package.replace('.', '/')} has no classes to play with: {error!r}. "
                f"{HOW_TO_GET}"
            ) from error

    # ------------------------------------------------------------------ inside
    def _record(self, member: str, number: int, line: str) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(f"{self.path / member}:{number} is not JSON ({error}).") from error
        if not isinstance(record, dict) or "id" not in record:
            raise DataError(f"{self.path / member}:{number} is no object with an 'id'.")
        return record

    def _text(self, member: str) -> str:
        try:
            content = (self.path / member).read_bytes()
        except OSError as error:
            raise DataError(
                f"{self.path} lacks {member} ({error.strerror}). {HOW_TO_GET}"
            ) from error
        self._read[member] = hashlib.sha256(content).hexdigest()
        return content.decode("utf-8")

    def _load(self, category: Category, names: list[str]) -> UpstreamModules:
        modules = self._with_imports(names)
        members = {member: self._read[member] for member in modules.values()}
        for package in {parent for name in modules for parent in _parents(name)}:
            init = f"{package.replace('.', '/')}/__init__.py"
            members[init] = hashlib.sha256(_Packages(self.path).read(init)).hexdigest()
        pin = AssetPin("ACEBench", "", "acebench", "of this clone", "", "", members)
        return UpstreamModules(
            Asset(pin, _Packages(self.path), str(self.path)),
            f"rods_acebench.upstream.{category}.{self.language}",
            [ROOT],
            patches=dict.fromkeys(modules, _silence),
        )

    def _with_imports(self, names: list[str]) -> dict[str, str]:
        """Module -> file, of these and of all that they import from the clone.

        Upstream's multi-step classes are based on a class of the multi-turn ones.
        """
        found: dict[str, str] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = f"{name.replace('.', '/')}.py"
                waiting += _imported(self._text(found[name]), found[name])
        return found


class _Packages(FolderSource):
    """The clone, whose folders are packages without saying so."""

    def read(self, member: str) -> bytes:
        """The file's bytes; nothing for an ``__init__.py`` that is not there."""
        if member.endswith("/__init__.py") and not (self.path / member).is_file():
            return b""
        return super().read(member)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _imported(source: str, member: str) -> Iterator[str]:
    """The clone's modules that a file imports, by whole names."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError as error:
        raise DataError(f"{member} of this clone is not Python: {error}. {HOW_TO_GET}") from error
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (n.name for n in node.names if n.name.startswith(f"{ROOT}."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{ROOT}."):
            yield str(node.module)


def _silence(module: ModuleType) -> None:
    """The classes print what they also return."""
    vars(module)["print"] = lambda *args, **kwargs: None
