"""Any MCP server as an environment."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from rods.digests import file_digest
from rods.errors import ConfigError
from rods.interfaces import Component, Environment, Session
from rods.structure.schema import CallValidator
from rods.types import JsonObject, JsonValue, Phrase, Split, Task, ToolSpec
from rods_mcp.cassette import Cassette, History, RecordingSession, ReplayingSession
from rods_mcp.config import DeclaredCall, McpConfig
from rods_mcp.connection import described
from rods_mcp.declarations import Declared, declared
from rods_mcp.fleet import Fleet
from rods_mcp.probing import probe, refuse, refuse_unseen
from rods_mcp.remote_fleet import RemoteFleet
from rods_mcp.seeds.making import SeedMaker
from rods_mcp.session import McpSession, Rules
from rods_mcp.tasks import TaskFile, read_tasks
from rods_mcp.toolspecs import toolspecs
from rods_mcp.translation import Translator

_PROBED = 6  # tasks of each split


class McpEnvironment(Environment):
    """The tools of an MCP server, its tasks from a file or made by exploring them."""

    name = "mcp"
    Config = McpConfig
    presets: ClassVar[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
        # Some minutes on two cores: the whole machine on a few explored tasks.
        "demo": {
            "environment": {"n_train": 8, "n_eval": 4},
            "curriculum": {"epoch_size": 8, "stages": [{"name": "all", "epochs": 4}]},
            "selector:boundary": {"cooldown_steps": 2},
            "evaluation": {"tasks": 4, "samples": 2},
        }
    }

    def __init__(self, config: Component.Config | None = None) -> None:
        super().__init__(config)
        assert isinstance(self.config, McpConfig)
        self._declared: Declared = declared(self.config)
        self.options: McpConfig = self._declared.options
        self.snapshots = "replay" if self.options.snapshot == "replay" else "native"
        self.determinism = "probed" if self.options.probe else "no"
        self._fleet = (RemoteFleet if self.options.remote else Fleet)(self._declared)
        self._learning = threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process starts servers of its own."""
        return type(self), (self.config,)

    def __deepcopy__(self, memo: dict[int, Any]) -> McpEnvironment:
        """Itself: nothing in it changes but what it has learned of the server."""
        return self

    # ---------------------------------------------------------------- the interface
    def tasks(self, split: Split) -> Sequence[Task]:
        """The tasks of the file, or those that exploring the tools gave."""
        with self._learning:
            return self._tasks[split]

    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools that a policy may have, as the server describes them."""
        with self._learning:
            return self._specs

    def open(self, task: Task) -> Session:
        """A server in its first state, in which the initial state of the task was made."""
        return self.opened(task)

    def opened(self, task: Task, *, fresh: bool = False) -> Session:
        """The same, with its cassette; ``fresh``: in a new process, whatever could be reused."""
        with self._learning:
            rules, cassette = self._rules, self._cassette
        history = History(task, self._specs)
        if cassette is None:
            return McpSession(rules, task, fresh=fresh)
        if self.options.replays:
            return ReplayingSession(cassette, rules.validator, history)
        return RecordingSession(McpSession(rules, task, fresh=fresh), task, cassette, history)

    def phrase(self, tool: str) -> Phrase | None:
        """How users ask for the tool, where the server's declaration says it by its parameters."""
        known = set(self._specs[tool].properties) if tool in self._specs else set()
        fields = re.compile(r"\{(\w+)\}")
        says = [s for s in self._declared.says.get(tool, ()) if set(fields.findall(s)) <= known]
        return Phrase(says=tuple(says)) if says else None

    def suggest(self, tool: str, parameter: str, state: JsonObject) -> Sequence[JsonValue]:
        """The closed sets that the server's declaration names."""
        values: Sequence[JsonValue] = self._declared.seeds.get("values", {}).get(
            f"{tool}.{parameter}", ()
        )
        return values

    def data_hashes(self) -> Mapping[str, str]:
        """The file of tasks, and the cassette that answers for the server."""
        hashes = {}
        if self.options.tasks is not None:
            hashes[self.options.tasks.name] = self._file.digest
        if self.options.replays and self.options.cassette is not None:
            hashes[self.options.cassette.name] = file_digest(self.options.cassette)
        return hashes

    def close(self) -> None:
        """Every server has ended."""
        self._fleet.close()

    # ---------------------------------------------------------------- learned once
    @cached_property
    def _listed(self) -> list[JsonObject]:
        """The tools as the first server lists them, or as they were recorded."""
        if self.options.replays and self._cassette is not None:
            return self._cassette.tools
        place = self._fleet.take({})
        try:
            return place.server.tools()
        finally:
            self._fleet.give_back(place)

    @cached_property
    def _cassette(self) -> Cassette | None:
        path = self.options.cassette
        if path is None:
            return None
        return (
            Cassette.read(path) if self.options.replays else Cassette.recording(path, self._listed)
        )

    @cached_property
    def _specs(self) -> dict[str, ToolSpec]:
        return toolspecs(self._listed, self.options)

    @cached_property
    def _rules(self) -> Rules:
        options, names = self.options, [str(tool["name"]) for tool in self._listed]
        reading = options.state or self._reading()
        if options.remote and not reading and not options.replays:
            raise ConfigError(
                f"No tool of {options.server} reads without an argument, so nothing tells its "
                "state. Declare environment.state, or environment.effects of the tools that read."
            )
        return Rules(
            options=options,
            fleet=self._fleet,
            translator=Translator(
                options.masks,
                names,
                answer=options.answer,
                structured=options.results == "structured",
                most=options.max_result_kb * 1024,
            ),
            validator=CallValidator(self._specs),
            tools=described(self._listed),
            state=options.state if options.state or options.state_files else reading,
            state_files=options.state_files or (() if reading else ("**/*",)),
        )

    def _reading(self) -> tuple[DeclaredCall, ...]:
        """The reading tools that need no argument: the state, where none is declared."""
        return tuple(
            DeclaredCall(tool=spec.name)
            for spec in self._specs.values()
            if spec.effect == "read" and not spec.required
        )

    @cached_property
    def _file(self) -> TaskFile:
        assert self.options.tasks is not None
        return read_tasks(self.options.tasks, self.name, self._specs)

    @cached_property
    def _tasks(self) -> Mapping[Split, Sequence[Task]]:
        """The tasks; a ConfigError where the server does not repeat what they do."""
        options = self.options
        tasks = self._file.tasks if options.tasks is not None else self._explored()
        if options.probe and not options.replays:
            sample = [*tasks["train"][:_PROBED], *tasks["eval"][:_PROBED]]
            reused = options.reset != "respawn"
            together = options.remote or options.reset in ("tool", "hook")
            found, runs = probe(self.opened, sample, reused=reused, together=together)
            if found:
                raise refuse(found, options.server)
            if options.remote:
                refuse_unseen(sample, self._specs, runs, options.server)
        return tasks

    def _explored(self) -> Mapping[Split, Sequence[Task]]:
        hints = self._declared.seeds
        maker = SeedMaker(
            self.name, self._specs, self.options, hints, self.opened, self._declared.says
        )
        return maker.tasks()
