"""The entry point: rods imports this module and asks its hooks what they bring."""

from __future__ import annotations

import rods

from my_selector.selector import MySelector


@rods.hookimpl
def rods_register_selectors() -> list[type[rods.Selector]]:
    """The selector."""
    return [MySelector]
