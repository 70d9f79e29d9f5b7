"""The server processes of one environment: started ahead, reused, and all ended at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rods.errors import WorldError
from rods_mcp import places, reaper
from rods_mcp.checking import takes_turns
from rods_mcp.connection import Connection
from rods_mcp.credentials import Credentials
from rods_mcp.declarations import Declared
from rods_mcp.server import Launch, Server
from rods_mcp.turns import Turns

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM")
_KEPT_PREFIXES = ("npm_config_", "NODE_", "UV_", "VIRTUAL_ENV", "SSL_", "HTTP", "http", "NO_PROXY")


@dataclass(eq=False, slots=True)
class Place:
    """A folder and the server that runs in it."""

    folder: Path
    workdir: Path
    server: Connection
    contents: Mapping[str, bytes] = field(default_factory=dict)
    sessions: int = 0  # opened here so far

    @property
    def key(self) -> str:
        """Names this session's own state towards the server (reset = 'argument')."""
        return f"session-{self.folder.name}-{self.sessions:06d}"


class Fleet:
    """Gives out places whose server is in its first state."""

    def __init__(self, declared: Declared) -> None:
        self.declared, self.options = declared, declared.options
        self.credentials = Credentials()
        self.turns = Turns() if takes_turns(declared.options) else None
        self._reusable = self.options.reset not in ("respawn", "session")
        self._lock = threading.Lock()
        self._idle: list[Place] = []  # reusable
        self._ahead: list[tuple[Mapping[str, bytes], Future[Place]]] = []
        self._all: set[Place] = set()
        self._count = 0
        self._closed = False

    # ------------------------------------------------------------------ places
    def take(self, contents: Mapping[str, bytes], *, fresh: bool = False) -> Place:
        """A place with these files and a server in its first state; ``fresh``: a new process."""
        ahead = self.options.reset == "respawn"
        place = None if fresh else (self._reset_idle(contents) if self._reusable else None)
        if place is None and not fresh and ahead:
            place = self._started_ahead(contents)
        place = place or self._spawn(contents)
        if ahead and not fresh:
            self._start_ahead(contents)
        place.sessions += 1
        place.server.forget_stderr()
        return place

    def give_back(self, place: Place) -> None:
        """The place is ended, or waits for the next session if its server can be reused."""
        with self._lock:
            reuse = self._reusable and place.server.alive
            reuse = reuse and not self._closed and len(self._idle) < self.options.warm
            if reuse:
                self._idle.append(place)
        if not reuse:
            self._end(place)

    def renew(self, place: Place) -> Place:
        """A place like this one in its first state; this one is given back."""
        contents = place.contents
        self.give_back(place)
        return self.take(contents)

    def close(self) -> None:
        """Every server has ended and every folder is gone; safe to call twice."""
        with self._lock:
            self._closed = True
            waiting, self._ahead, self._idle = self._ahead, [], []
        for _, future in waiting:
            future.cancel()
        if "_starter" in self.__dict__:
            self._starter.shutdown(wait=True)
        for place in list(self._all):
            self._end(place)
        if "_root" in self.__dict__:
            process = self.__dict__.pop("_reaper_process")
            process.stdin.close()
            process.wait()
            shutil.rmtree(self.__dict__.pop("_root"), ignore_errors=True)
            self.__dict__.pop("_template", None)

    # ------------------------------------------------------------------ inside
    def _spawn(self, contents: Mapping[str, bytes]) -> Place:
        with self._lock:
            if self._closed:
                raise WorldError("The environment is closed; its servers have ended.")
        place = self._made(contents)
        with self._lock:
            self._all.add(place)
        try:
            place.server.start()
            self._first(place, contents)
        except BaseException:
            self._end(place)
            raise
        return place

    def _made(self, contents: Mapping[str, bytes]) -> Place:
        """A folder with these files and a server that is not started yet."""
        with self._lock:
            self._count += 1
            folder = self._root / f"{self._count:05d}"
        workdir = folder / "world"
        workdir.mkdir(parents=True)
        places.refill(workdir, *self._template)
        places.write(workdir, contents)
        server = Server(self._launch(folder, workdir), self.credentials)
        return Place(folder, workdir, server, contents)

    def _first(self, place: Place, contents: Mapping[str, bytes]) -> None:
        """A new process in a new folder is in its first state, unless a tool makes that."""
        if self.options.reset == "tool" or self.turns is not None:
            self.reset(place, contents)

    def _launch(self, folder: Path, workdir: Path) -> Launch:
        options = self.options
        return Launch(
            command=tuple(filled(word, workdir) for word in self.declared.command),
            env=self._environment(workdir),
            cwd=workdir,
            pid_file=folder / "pid",
            start_timeout_s=options.start_timeout_s,
            call_timeout_s=options.call_timeout_s,
            max_stderr=options.max_stderr_kb * 1024,
        )

    def _environment(self, workdir: Path) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in _INHERITED or name.startswith(_KEPT_PREFIXES)
        }
        given = {
            name: self.credentials.filled(value, f"env.{name}")
            for name, value in self.options.env.items()
        }
        return kept | {name: filled(value, workdir) for name, value in given.items()}

    def _end(self, place: Place) -> None:
        place.server.end()
        shutil.rmtree(place.folder, ignore_errors=True)
        self._forget(place)

    def _forget(self, place: Place) -> None:
        with self._lock:
            self._all.discard(place)

    def _reset_idle(self, contents: Mapping[str, bytes]) -> Place | None:
        with self._lock:
            place = self._idle.pop() if self._idle else None
        if place is None:
            return None
        try:
            self.reset(place, contents)
        except WorldError:  # it died while it waited: no session has seen it
            self._end(place)
            return None
        return place

    def reset(self, place: Place, contents: Mapping[str, bytes]) -> None:
        """The used server is in its first state, by the declared way."""
        options = self.options
        if options.reset == "files":
            places.refill(place.workdir, *self._template)
            places.write(place.workdir, contents)
        elif options.reset == "tool" and options.reset_tool is not None:
            call = options.reset_tool
            answer = place.server.call(call.tool, call.arguments)
            if answer.error:
                raise WorldError(f"The reset by {call.tool!r} failed: {answer.text[:300]}")
        elif options.reset == "hook":
            self._run_hook(place)
        place.contents = contents

    def _run_hook(self, place: Place) -> None:
        command = filled(self.options.reset_hook, place.workdir)
        env = self._environment(place.workdir)
        places.run_command(command, place.workdir, env, "environment.reset_hook")

    @cached_property
    def _template(self) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """What ``prepare`` makes of an empty folder."""
        if not self.options.prepare:
            return {}, ()
        with tempfile.TemporaryDirectory(dir=self._root) as folder:
            command = filled(self.options.prepare, Path(folder))
            env = self._environment(Path(folder))
            places.run_command(command, Path(folder), env, "environment.prepare")
            return places.read(Path(folder))

    # ------------------------------------------------------------------ started ahead
    def _started_ahead(self, contents: Mapping[str, bytes]) -> Place | None:
        with self._lock:
            found = next((pair for pair in self._ahead if pair[0] == contents), None)
            if found is not None:
                self._ahead.remove(found)
        return found[1].result() if found else None

    def _start_ahead(self, contents: Mapping[str, bytes]) -> None:
        """One more server for a session of the same task: K rollouts come one after the other."""
        with self._lock:
            if not self.options.warm or self._closed:
                return
            if sum(known == contents for known, _ in self._ahead) >= self.options.warm:
                return
            self._ahead.append((contents, self._starter.submit(self._spawn, contents)))
            surplus = self._ahead[: -self.options.warm]
            self._ahead = self._ahead[-self.options.warm :]
        for _, future in surplus:
            if not future.cancel():
                future.add_done_callback(self._unwanted)

    def _unwanted(self, future: Future[Place]) -> None:
        if future.exception() is None:
            self._end(future.result())

    @cached_property
    def _starter(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix="rods-mcp-start")

    # ------------------------------------------------------------------ the reaper
    @cached_property
    def _root(self) -> Path:
        """The folder of all places, watched by a process that outlives this one."""
        root = Path(tempfile.mkdtemp(prefix="rods-mcp-")).resolve()
        self._reaper_process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(reaper.__file__), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        return root


def filled(text: str, workdir: Path) -> str:
    """The text with ``{workdir}`` replaced; other braces stay."""
    return text.replace("{workdir}", str(workdir))
