"""What several ranks do together; with one rank every function here is a plain call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from torch import distributed

from rods.errors import RodsError

T = TypeVar("T")


def world_size() -> int:
    """Number of ranks."""
    return distributed.get_world_size() if _together() else 1


def rank() -> int:
    """This process's rank; rank 0 owns the curriculum, the reports and the files."""
    return distributed.get_rank() if _together() else 0


def gather(items: Sequence[T]) -> list[T]:
    """The items of all ranks in rank order, on every rank."""
    if world_size() == 1:
        return list(items)
    parts: list[Any] = [None] * world_size()
    distributed.all_gather_object(parts, list(items))
    return [item for part in parts for item in part]


def from_rank_zero(make: Callable[[], T]) -> T:
    """What ``make`` returned on rank 0, on every rank; its error too, so that none waits."""
    if world_size() == 1:
        return make()
    box: list[Any] = [None, None]
    error: Exception | None = None
    if rank() == 0:
        try:
            box[0] = make()
        except Exception as caught:  # noqa: BLE001 - raised again below, once the others know
            error, box[1] = caught, f"{type(caught).__name__}: {caught}"
    distributed.broadcast_object_list(box, src=0)
    if error is not None:
        raise error
    if box[1] is not None:
        raise RodsError(f"Rank 0 failed, so rank {rank()} stops: {box[1]}")
    result: T = box[0]
    return result


def _together() -> bool:
    return distributed.is_available() and distributed.is_initialized()
