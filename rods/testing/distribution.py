"""An installed distribution without installing: for tests of discovery and of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_distribution(
    folder: Path,
    name: str,
    entry_points: Mapping[str, Mapping[str, str]],
    *,
    modules: Mapping[str, str] | None = None,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
) -> Path:
    """Write metadata and modules into ``folder``; on ``sys.path`` it counts as installed.

    ``entry_points`` maps a group to its names and targets, ``modules`` a file name to its source.
    """
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    )
    lines = []
    for group, targets in entry_points.items():
        lines += [f"[{group}]", *(f"{key} = {target}" for key, target in targets.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for file_name, source in (modules or {}).items():
        (folder / file_name).write_text(source)
    return folder
