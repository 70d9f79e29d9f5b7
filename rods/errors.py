"""Every error that rods raises on purpose.

::

    RodsError                      one line for the user, exit status 1
    +-- UserError                  the input is at fault: exit status 2
    |   +-- ConfigError            a key, a value or a file of the configuration
    |   +-- PluginError            a plugin that is missing, broken or registered twice
    |   +-- DataError              a task, a trajectory or an asset that is not what it claims
    |   +-- RunDirError            a run folder that is in use, finished or of another version
    |   +-- PoolError              a pool of a newer schema, or one that cannot be opened
    +-- WorldError                 an environment's own fault (a server died, a time limit): the
        |                          rollout gets no reward, it is never a zero
        +-- ModelOutage            a language model of the synthesis is away: the request waits

A bad tool call is none of these: it is a ``ToolResult`` with ``error=True``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_NAMES_SHOWN = 30  # in a hint; a world may know thousands


class RodsError(Exception):
    """What happened, what was expected and what to do, in one line."""

    exit_status = 1


class UserError(RodsError):
    """The user's input is at fault; nothing was lost."""

    exit_status = 2


class ConfigError(UserError):
    """A configuration key, value or file that rods cannot use."""


class PluginError(UserError):
    """A plugin that is missing, cannot be imported, or collides with another."""


class DataError(UserError):
    """A task, trajectory or asset that is not what it claims to be."""


class RunDirError(UserError):
    """A run folder that is in use, finished, damaged or of another version."""


class PoolError(UserError):
    """A pool that cannot be opened, or whose schema is newer than this rods."""


class WorldError(RodsError):
    """A fault of the environment, not of the policy: the rollout stays unscored."""


class ModelOutage(WorldError):  # noqa: N818 - an outage is no error of anyone's here
    """A language model that synthesis needs does not answer: the request waits, nothing is lost."""

    def __init__(self, message: str, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s  # asking again before is in vain


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known name, or lists what is known; ends the error line."""
    names = sorted(known)
    shown, more = ", ".join(names[:_NAMES_SHOWN]), len(names) - _NAMES_SHOWN
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    if more > 0:
        return f"Known: {shown} and {more} more."
    return f"Known: {shown}." if names else "None is known."


def reason(error: BaseException) -> str:
    """Class and message of an error that rods did not raise, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
