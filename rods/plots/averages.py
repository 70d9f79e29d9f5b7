"""Moving means over the last steps; a step without a value counts for nothing."""

from __future__ import annotations

from collections.abc import Sequence


def moving_mean(values: Sequence[float | None], window: int) -> list[float | None]:
    """The mean over the last ``window`` values up to each place, fewer at the start."""
    known = [0.0 if value is None else value for value in values]
    return moving_shares(known, [value is not None for value in values], window)


def moving_shares(
    parts: Sequence[float], wholes: Sequence[float], window: int
) -> list[float | None]:
    """``parts`` of ``wholes`` over the last ``window`` places; None where there is no whole."""
    ratios: list[float | None] = []
    for end in range(1, len(parts) + 1):
        start = max(0, end - window)
        whole = sum(wholes[start:end])
        ratios.append(sum(parts[start:end]) / whole if whole else None)
    return ratios
