"""The forms of a figure, by the ending of its file."""

from __future__ import annotations

from pathlib import Path

from rods.errors import ConfigError

FORMS = ("png", "svg", "pdf")


def form_of(path: Path) -> str:
    """The form that the name of a file asks for, or a ConfigError that lists those there are."""
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMS:
        known = ", ".join(f".{name}" for name in FORMS)
        raise ConfigError(f"{path} ends in no form of a figure; name a file that ends in {known}.")
    return form
