"""An evaluation that was interrupted: its rollouts are taken up if they would come out the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rods.digests import digest
from rods.errors import DataError
from rods.files import write_atomic
from rods.jsonl import JsonlReader
from rods.types import Rollout, RolloutGroup, Task


@dataclass(slots=True)
class Unfinished:
    """What ``OUT.partial`` holds of an evaluation, and the digest of all that it depends on."""

    out: Path
    digest: str
    lines: list[bytes] = field(default_factory=list)

    @property
    def partial(self) -> Path:
        """Where ``JsonlWriter`` keeps the lines until all are done."""
        return self.out.with_name(f"{self.out.name}.partial")

    @property
    def card(self) -> Path:
        """Beside it: what its lines were made from."""
        return self.out.with_name(f"{self.out.name}.partial.json")

    @property
    def before(self) -> Path:
        """What was played before the tasks, in worlds that need it; it stays beside ``out``."""
        return self.out.with_name(f"{self.out.name}.before.jsonl")

    @property
    def lasting(self) -> bool:
        """The lines go to a file of that name, not to a pipe or a device."""
        return self.out.is_file() or not self.out.exists()

    def begin(self) -> None:
        """The lines that come belong to these terms."""
        write_atomic(self.card, json.dumps({"digest": self.digest}))

    def end(self) -> None:
        """There is nothing unfinished any more."""
        self.card.unlink(missing_ok=True)

    def groups(self, tasks: Sequence[Task], part: int) -> list[RolloutGroup]:
        """The groups of whole parts of ``part`` tasks that are done; each part has its own seed."""
        count = len(self.lines) if len(self.lines) == len(tasks) else len(self.lines) // part * part
        del self.lines[count:]
        records = [json.loads(line) for line in self.lines]
        return [
            _group(record, task, self.partial) for record, task in zip(records, tasks, strict=False)
        ]


def unfinished(out: Path, terms: Mapping[str, Any], *, anew: bool = False) -> Unfinished:
    """What an earlier call under these terms left; a DataError where it was under others.

    With ``anew`` it is not looked at, and will be replaced.
    """
    found = Unfinished(out, digest(terms, default=str))
    if anew:
        found.before.unlink(missing_ok=True)
    if anew or not found.partial.is_file():
        return found
    if _digest_of(found.card) != found.digest:
        raise DataError(
            f"{found.partial} is of an evaluation with other settings or of another policy; rename "
            "it to keep it, or begin anew with --force."
        )
    with suppress(DataError):  # a kill within a block of a packed file: the lines before are whole
        found.lines.extend(line.rstrip(b"\n") for _, line in JsonlReader(found.partial))
    if found.lines and not _whole(found.lines[-1]):
        found.lines.pop()
    return found


def policy_stamp(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file of a policy: they change when it is trained on."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
    }


def _digest_of(card: Path) -> str | None:
    try:
        held = json.loads(card.read_text())
    except (OSError, ValueError):
        return None
    return held.get("digest") if isinstance(held, dict) else None


def _whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _group(record: Mapping[str, Any], task: Task, path: Path) -> RolloutGroup:
    try:
        if record["task_id"] != task.id:
            raise DataError(f"{path} has {record['task_id']!r} where {task.id!r} was expected.")
        rollouts = tuple(Rollout.model_validate(one) for one in record["rollouts"])
    except (KeyError, TypeError, ValidationError) as error:
        raise DataError(f"{path} is damaged; begin anew with --force.") from error
    return RolloutGroup(entry_id=task.id, task=task, rollouts=rollouts)
