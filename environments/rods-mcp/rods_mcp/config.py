"""What can be told about a server: how it is started, reset, read and snapshotted."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from rods.interfaces import Component
from rods.types import Effect, JsonObject, JsonValue, Record

Reset = Literal["respawn", "files", "tool", "hook", "argument", "session"]
Snapshots = Literal["replay", "files", "tool"]
CassetteMode = Literal["record", "replay"]


class DeclaredCall(Record):
    """A call that is no part of a rollout: it reads the state, or resets the server."""

    tool: str
    arguments: JsonObject = Field(default_factory=dict)


class SnapshotTools(Record):
    """A server's own snapshots: what ``save`` answers is given to ``restore`` as an argument."""

    save: DeclaredCall
    restore: DeclaredCall
    argument: str = "snapshot"


class McpConfig(Component.Config):
    """Which server, and what has to be declared of it.

    Keys that are left out come from the declaration of a known server (``profile``), then from the
    defaults named here.
    """

    server: str = Field(
        "",
        description="The command that starts the server ({workdir} is the session's own folder), "
        "or the http(s) address of one that runs.",
    )
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="HTTP headers for a server with an address; ${NAME} takes a variable of the "
        "environment, whose value is shown and kept nowhere.",
    )
    profile: str = Field(
        "auto",
        description="Known server whose declaration fills in what is left out: a name, 'auto' (by "
        "the command) or 'none'.",
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        description="Environment variables of the server; {workdir} is replaced, and ${NAME} as in "
        "headers.",
    )
    allow: tuple[str, ...] = Field(
        (), description="Patterns of the tools that a policy may have (default: all)."
    )
    deny: tuple[str, ...] = Field((), description="Patterns of tools that no policy gets.")
    effects: dict[str, Effect] = Field(
        default_factory=dict,
        description="Tool -> read or write, where the server's annotations do not say it.",
    )
    fixed: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Parameter -> value that every tool with such a parameter gets; hidden from "
        "the policy ({workdir} is replaced).",
    )
    results: Literal["text", "structured"] = Field(
        "text", description="Which part of a tool's answer is the result, if it gives both."
    )
    answer: str = Field(
        "", description="JSON path of the part of an answer that is the result ($.parsed_content)."
    )
    reset: Reset | None = Field(
        None,
        description="How a used server gets back to its first state: 'respawn' (a new process in a "
        "fresh folder, the default), 'files' (a fresh folder under the running process), 'tool', "
        "'hook', 'argument' or 'session' (a new MCP session). A server with an address needs one "
        "of the last four.",
    )
    shared: bool | None = Field(
        None,
        description="All sessions act on one state, so that they take turns: each is put back by "
        "its reset and its calls so far (default: for a server with an address and reset = 'tool' "
        "or 'hook').",
    )
    reset_tool: DeclaredCall | None = Field(
        None, description="The call that every session starts with (reset = 'tool')."
    )
    reset_hook: str = Field(
        "", description="The command that resets the server (reset = 'hook'); {workdir}."
    )
    reset_argument: str = Field(
        "",
        description="The argument that names a session's own state (reset = 'argument'); it is "
        "added to every call and hidden from the policy.",
    )
    prepare: str = Field(
        "", description="A command that fills a fresh folder, run in it once and copied then."
    )
    state: tuple[DeclaredCall, ...] = Field(
        (),
        description="Reading calls whose answers are the state that is compared (default: the "
        "reading tools that need no argument).",
    )
    state_files: tuple[str, ...] = Field(
        (), description="Patterns of files in the folder whose texts are a part of the state."
    )
    masks: tuple[str, ...] = Field(
        (),
        description="What is hidden in results and state: a JSON path ($.items[*].id) or a regular "
        "expression, after 'tool:' for one tool only.",
    )
    snapshot: Snapshots | None = Field(
        None,
        description="How a snapshot is taken: 'replay' (of the calls so far, their answers "
        "compared; the default), 'files' (a copy of the folder) or 'tool'.",
    )
    snapshot_tools: SnapshotTools | None = Field(
        None, description="The calls that save and restore (snapshot = 'tool')."
    )
    start_timeout_s: float = Field(120.0, gt=0, description="Longest start of a server.")
    call_timeout_s: float = Field(20.0, gt=0, description="Longest answer to a call.")
    max_stderr_kb: int = Field(
        1024, ge=1, description="What a server may write to stderr in one session."
    )
    max_argument_kb: int = Field(
        64, ge=1, description="Longest arguments of a call; longer ones are an error."
    )
    max_result_kb: int = Field(256, ge=1, description="Longest result; the rest is cut off.")
    warm: int = Field(
        2, ge=0, description="Servers started ahead, or kept for the next sessions if reusable."
    )
    tasks: Path | None = Field(
        None, description="Tasks, one JSON object a line (default: made by exploring the tools)."
    )
    n_train: int = Field(16, ge=1, description="Train tasks that exploring makes.")
    n_eval: int = Field(8, ge=0, description="Evaluation tasks that exploring makes.")
    turns: tuple[int, int] = Field((1, 3), description="Fewest and most turns of such a task.")
    calls: int = Field(3, ge=1, le=6, description="Most calls in a turn of such a task.")
    seed: int = Field(0, description="Draws these tasks.")
    probe: bool = Field(
        True, description="Refuse a server whose answers or state differ from run to run."
    )
    cassette: Path | None = Field(
        None, description="A file of recorded answers, keyed by the calls that led there."
    )
    cassette_mode: CassetteMode = Field(
        "replay",
        description="'record' runs the server and writes the cassette; 'replay' needs no "
        "server and refuses what was not recorded.",
    )

    @property
    def remote(self) -> bool:
        """The server has an address; it runs already."""
        return self.server.lower().startswith(("http://", "https://"))

    @property
    def replays(self) -> bool:
        """Answers come from a cassette; no server is started."""
        return self.cassette is not None and self.cassette_mode == "replay"
