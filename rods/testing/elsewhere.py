"""The other process of ``another_process_changes_nothing``: plays tasks and writes digests."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rods.testing.repeat_checks import play_elsewhere


def main() -> None:
    """``elsewhere.py ASKED ANSWERED``: both are JSON files."""
    asked, answered = map(Path, sys.argv[1:])
    module, name, config, ids = json.loads(asked.read_text())
    kind: Any = import_module(module)
    for part in name.split("."):
        kind = getattr(kind, part)
    environment = kind(kind.Config.model_validate(config))
    try:
        answered.write_text(json.dumps(play_elsewhere(environment, ids)))
    finally:
        environment.close()


if __name__ == "__main__":
    main()
