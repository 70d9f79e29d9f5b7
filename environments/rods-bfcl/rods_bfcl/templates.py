"""Frozen copies of instances, from which fresh ones are made in a few microseconds."""

from __future__ import annotations

import copy
import marshal
from typing import Any, Protocol

from rods_bfcl.lazy_random import LazyRandom
from rods_bfcl.upstream import NOW

_MODIFIED = NOW.replace(tzinfo=None)  # as a file that is made in the world has it
_SCALARS = (str, int, float, bool, type(None))


class Template(Protocol):
    """An instance at one moment; nothing that happens later changes it."""

    def build(self) -> Any:
        """A new instance that shares nothing with any other."""
        ...


def template_of(instance: Any) -> Template:
    """The template of an instance of an API class."""
    if "root" in vars(instance):
        tree = _TreeTemplate.of(instance)
        return tree or _DeepTemplate(instance)
    try:
        return _PlainTemplate(instance)
    except ValueError:  # an argument of a strange type came into the state
        return _DeepTemplate(instance)


class _PlainTemplate:
    """Attributes that are scalars, plain containers or generators."""

    __slots__ = ("_blob", "_class", "_generators", "_scalars")

    def __init__(self, instance: Any) -> None:
        self._class = type(instance)
        attributes = vars(instance)
        self._scalars = {k: v for k, v in attributes.items() if type(v) in _SCALARS}
        self._generators = {k: v.copy() for k, v in attributes.items() if type(v) is LazyRandom}
        taken = self._scalars.keys() | self._generators.keys()
        self._blob = marshal.dumps({k: v for k, v in attributes.items() if k not in taken})

    def build(self) -> Any:
        instance = object.__new__(self._class)
        attributes = instance.__dict__
        attributes.update(marshal.loads(self._blob))
        attributes.update(self._scalars)
        for name, generator in self._generators.items():
            attributes[name] = generator.copy()
        return instance


class _DeepTemplate:
    """Whatever does not fit the quick ways."""

    __slots__ = ("_instance",)

    def __init__(self, instance: Any) -> None:
        self._instance = copy.deepcopy(instance)

    def build(self) -> Any:
        return copy.deepcopy(self._instance)


class _TreeTemplate:
    """A file system whose directories form a tree (upstream's cp and mv can make others)."""

    __slots__ = ("_attributes", "_class", "_directory", "_file", "_path", "_root", "_tree")

    def __init__(self, instance: Any, tree: Any, path: tuple[str, ...], file: type[Any]) -> None:
        self._class = type(instance)
        self._directory = type(instance.root)
        self._file = file
        self._attributes = {
            k: v for k, v in vars(instance).items() if k not in ("root", "_current_dir")
        }
        self._root = instance.root.name
        self._tree = tree
        self._path = path

    @classmethod
    def of(cls, instance: Any) -> _TreeTemplate | None:
        """The template, or None if the directories are no tree."""
        root, here = instance.root, instance._current_dir
        path: list[str] = []
        folder = here
        while folder is not root:
            parent = folder.parent
            if parent is None or parent.contents.get(folder.name) is not folder:
                return None
            path.append(folder.name)
            folder = parent
        seen: set[int] = set()
        try:
            tree = _tree(root, type(root), seen)
        except _NotATreeError:
            return None
        file = instance._load_scenario.__func__.__globals__["File"]
        return cls(instance, tree, tuple(reversed(path)), file)

    def build(self) -> Any:
        instance: Any = object.__new__(self._class)
        root = self._make(self._root, None, self._tree)
        here = root
        for name in self._path:
            here = here.contents[name]
        instance.__dict__.update(self._attributes, root=root, _current_dir=here)
        return instance

    def _make(self, name: str, parent: Any, entries: dict[str, Any]) -> Any:
        directory: Any = object.__new__(self._directory)
        contents: dict[str, Any] = {}
        directory.__dict__ = {"name": name, "parent": parent, "contents": contents}
        for entry, value in entries.items():
            if type(value) is dict:
                contents[entry] = self._make(entry, directory, value)
            else:
                item: Any = object.__new__(self._file)
                content = value[0] if type(value) is tuple else value
                contents[entry] = item
                item.__dict__ = {"name": entry, "content": content, "_last_modified": _MODIFIED}
        return directory


class _NotATreeError(Exception):
    """A directory is reachable twice, or does not know its parent."""


def _tree(directory: Any, kind: type[Any], seen: set[int]) -> dict[str, Any]:
    """Entry -> a file's text, or a directory's entries; a file without text stands in a tuple."""
    if id(directory.contents) in seen:
        raise _NotATreeError
    seen.add(id(directory.contents))
    entries: dict[str, Any] = {}
    for name, item in directory.contents.items():
        if type(item) is kind:
            if item.parent is not directory:
                raise _NotATreeError
            entries[name] = _tree(item, kind, seen)
            continue
        if id(item) in seen or type(item.content) not in _SCALARS:
            raise _NotATreeError
        seen.add(id(item))
        entries[name] = item.content if type(item.content) is str else (item.content,)
    return entries
