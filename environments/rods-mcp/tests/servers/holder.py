"""Opens a session over the shelf, tells the server's process and folder, and waits to be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rods_mcp.config import McpConfig
from rods_mcp.environment import McpEnvironment
from rods_mcp.session import McpSession

from rods.types import Task


def main() -> None:
    shelf = Path(__file__).with_name("shelf.py")
    command = f"{sys.executable} {shelf} {sys.argv[1]}"
    environment = McpEnvironment(McpConfig(server=command, probe=False))
    task = Task(id="t", environment="mcp", tools=(), turns=(), initial_state={})
    session = environment.opened(task)
    assert isinstance(session, McpSession)
    launch = session._here.server.launch
    print(launch.pid_file.read_text().strip(), launch.pid_file.parent.parent, flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
