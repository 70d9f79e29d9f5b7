"""What the tools of the suites change."""

from __future__ import annotations

from rods.types import Effect

_WRITING = (
    *("add", "append", "cancel", "create", "delete", "invite", "post", "remove", "reschedule"),
    *("reserve", "schedule", "send", "set", "share", "update"),
)
_HIDDEN_WRITES = frozenset({"get_unread_emails"})  # marks them as read


def effect_of(tool: str) -> Effect:
    """By the verb that its name begins with."""
    if tool in _HIDDEN_WRITES:
        return "unknown"
    return "write" if tool.partition("_")[0] in _WRITING else "read"
