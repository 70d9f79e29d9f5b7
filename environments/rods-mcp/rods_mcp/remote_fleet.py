"""Connections to a server that runs already, in the place of processes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from pathlib import Path

from rods.errors import WorldError
from rods_mcp import places
from rods_mcp.declarations import Declared
from rods_mcp.fleet import Fleet, Place
from rods_mcp.remote import Address, Remote
from rods_mcp.translation import WORLD


class RemoteFleet(Fleet):
    """Gives out connections whose session is in its first state, by the declared reset."""

    def __init__(self, declared: Declared) -> None:
        super().__init__(declared)
        if self.options.replays:
            return
        filled, options = self.credentials.filled, self.options
        self._address = Address(
            url=options.server,
            headers={n: filled(v, f"headers.{n}") for n, v in options.headers.items()},
            start_timeout_s=options.start_timeout_s,
            call_timeout_s=options.call_timeout_s,
            by_session=options.reset == "session" or (options.reset == "tool" and not self.turns),
        )

    def _made(self, contents: Mapping[str, bytes]) -> Place:
        """A connection; its folder is none of ours, and its name towards the server is new."""
        name = uuid.uuid4().hex[:12]  # earlier runs left their states under theirs
        remote = Remote(self._address, self.credentials)
        return Place(Path(f"{WORLD}-{name}"), Path(WORLD), remote, contents)

    def _first(self, place: Place, contents: Mapping[str, bytes]) -> None:
        """Whatever the server held before, the session begins in its first state."""
        self.reset(place, contents)

    def _run_hook(self, place: Place) -> None:
        """The user's own command, here and with the user's environment."""
        command, where = self.options.reset_hook, Path.cwd()
        try:
            places.run_command(command, where, os.environ, "environment.reset_hook")
        except WorldError as error:
            raise WorldError(self.credentials.hidden(str(error))) from None

    def _end(self, place: Place) -> None:
        place.server.end()
        self._forget(place)
