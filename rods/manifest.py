"""What made a run: versions, data hashes, seeds, commit and command; one entry a start."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, version
from typing import Any

from packaging.requirements import Requirement

from rods.errors import DataError
from rods.passwords import masked
from rods.plugin_manager import Plugins
from rods.run_dir import MANIFEST, RunDir


def record_start(
    run: RunDir, plugins: Plugins, data_hashes: Mapping[str, str], command: Sequence[str]
) -> None:
    """Add this start to the manifest; a DataError if the tasks are no longer those of the first."""
    manifest = run.read_json(MANIFEST) or {
        "seed": run.seed,
        "data": dict(data_hashes),
        "starts": [],
    }
    changed = [name for name, digest in data_hashes.items() if manifest["data"].get(name) != digest]
    if changed:
        raise DataError(
            f"{changed[0]!r} is not what the run in {run.path} began with "
            f"(sha256 {data_hashes[changed[0]][:12]}..., expected "
            f"{str(manifest['data'].get(changed[0]))[:12]}...); restore it or begin a new run."
        )
    if manifest["starts"] and not manifest["starts"][-1]["seconds"]:
        manifest["starts"][-1]["seconds"] = _seconds_until_killed(run, manifest["starts"][-1])
    manifest["starts"].append(
        {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "command": [masked(word) for word in command],
            "resumed_at": last.step if (last := run.last_report()) else 0,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "git": git_commit(),
            "versions": versions(plugins),
            "seconds": 0.0,
        }
    )
    run.write_json(MANIFEST, manifest)


def close_start(run: RunDir, seconds: float) -> float:
    """Note how long this start lasted; the seconds of all starts together."""
    manifest = run.read_json(MANIFEST)
    if manifest is None:
        return seconds
    manifest["starts"][-1]["seconds"] = round(seconds, 3)
    run.write_json(MANIFEST, manifest)
    return float(sum(start["seconds"] for start in manifest["starts"]))


def _seconds_until_killed(run: RunDir, start: Mapping[str, Any]) -> float:
    """From a start to the last sign of life; 0 if it left none."""
    signs = [run.metrics, *run.path.glob("evaluation/*")]
    last = max((sign.stat().st_mtime for sign in signs if sign.exists()), default=0.0)
    return round(max(0.0, last - datetime.fromisoformat(start["time"]).timestamp()), 3)


def versions(plugins: Plugins) -> dict[str, str]:
    """The plugins' distributions and what they require directly, as installed here."""
    found: dict[str, str] = {}
    for entry in plugins.entries:
        found[entry.distribution] = entry.version
        found.update(_required(entry.point.dist))
    return dict(sorted(found.items()))


def _required(dist: Distribution | None) -> dict[str, str]:
    found = {}
    for text in (dist.requires or []) if dist else []:
        name = Requirement(text).name
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # of an extra that is not installed
            continue
    return found


def git_commit() -> str | None:
    """The commit of the current folder, with ``+`` where files differ; None outside git."""
    try:
        head = _git("rev-parse", "HEAD")
        return head + "+" * bool(_git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()
