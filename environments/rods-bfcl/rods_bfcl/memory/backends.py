"""The memory backends of BFCL V4 and the official texts around them, from the pinned release."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Literal

from rods.types import JsonObject
from rods_bfcl.asset import Asset
from rods_bfcl.upstream import PACKAGE

Backend = Literal["kv", "rec_sum"]
BACKENDS: tuple[Backend, ...] = ("kv", "rec_sum")
EMPTY: Mapping[Backend, JsonObject] = {
    "kv": {"core_memory": {}, "archival_memory": {}},
    "rec_sum": {"memory": ""},
}
PROMPTS = "bfcl_eval/constants/default_prompts.py"
MAX_MEMORY = 1_000_000  # characters; upstream lets a replacement multiply without end


def source_of(backend: Backend) -> str:
    """The file that a backend's class stands in."""
    return f"{PACKAGE.replace('.', '/')}/memory_{backend}.py"


@dataclass(frozen=True, slots=True)
class MemoryClass:
    """A backend's class and its public methods by name."""

    make: Callable[[], Any]
    methods: Mapping[str, Callable[..., Any]]


class Backends:
    """The classes and texts, each loaded when it is asked for."""

    def __init__(self, asset: Asset) -> None:
        self._asset = asset
        self._classes: dict[Backend, MemoryClass] = {}

    def of(self, backend: Backend) -> MemoryClass:
        """The class of a backend."""
        if backend not in self._classes:
            module = _load(self._asset, source_of(backend))
            self._classes[backend] = _memory_class(vars(module)[f"MemoryAPI_{backend}"])
        return self._classes[backend]

    def system_text(self, backend: Backend, scenario: str, memory: JsonObject) -> str:
        """What upstream tells the model first: its role, and what it sees of the memory."""
        names = vars(self._prompts)
        unified = backend == "rec_sum"
        template = "MEMORY_BACKEND_INSTRUCTION_" + ("UNIFIED" if unified else "CORE_ARCHIVAL")
        text: str = names[template].format(
            scenario_setting=names["MEMORY_AGENT_SETTINGS"][scenario],
            memory_content=self.filled(backend, memory)._dump_core_memory_to_context(),
        )
        return text

    @property
    def answer_text(self) -> str:
        """How upstream asks for the answer to a question."""
        text: str = vars(self._prompts)["ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"]
        return text

    def filled(self, backend: Backend, memory: JsonObject) -> Any:
        """An instance that holds this memory, and shares nothing with it."""
        instance = self.of(backend).make()
        for name in EMPTY[backend]:
            value = memory[name]
            setattr(instance, name, dict(value) if isinstance(value, dict) else value)
        return instance

    @cached_property
    def _prompts(self) -> ModuleType:
        return _load(self._asset, PROMPTS)


def held(backend: Backend, instance: Any) -> JsonObject:
    """The memory that an instance holds, as upstream writes it into its snapshots."""
    values = {name: getattr(instance, name) for name in EMPTY[backend]}
    return {n: dict(v) if isinstance(v, dict) else v for n, v in values.items()}


def _memory_class(cls: type[Any]) -> MemoryClass:
    methods = dict(inspect.getmembers(cls, inspect.isfunction))
    public: dict[str, Callable[..., Any]] = {
        name: method for name, method in methods.items() if not name.startswith("_")
    }
    if "memory_replace" in public:
        public["memory_replace"] = _bounded(public["memory_replace"])
    return MemoryClass(cls, public)


def _bounded(replace: Callable[..., Any]) -> Callable[..., Any]:
    def memory_replace(instance: Any, old_text: Any, new_text: Any) -> Any:
        found = instance.memory.count(str(old_text))
        if found * len(str(new_text)) > MAX_MEMORY:
            raise ValueError(f"the memory would have more than {MAX_MEMORY} characters")
        return replace(instance, old_text, new_text)

    return memory_replace


def _load(asset: Asset, member: str) -> ModuleType:
    """A module whose one import from upstream, the base class with its files, is left out."""
    name = re.sub(r"\W", "_", member.rpartition("/")[2].removesuffix(".py"))
    module = ModuleType(f"rods_bfcl.upstream.{name}")
    module.__dict__["__builtins__"] = vars(builtins) | {"__import__": _import}
    exec(compile(asset.read(member), f"{asset.origin}/{member}", "exec"), module.__dict__)  # pinned
    return module


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    if name == f"{PACKAGE}.memory_api_metaclass":
        base = ModuleType(name)
        vars(base)["MemoryAPI"] = object
        return base
    return __import__(name, *args, **kwargs)
