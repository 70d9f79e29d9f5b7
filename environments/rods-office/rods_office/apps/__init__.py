"""The five apps of the office and the registry of their tools."""

from __future__ import annotations

from collections.abc import Mapping

from rods_office.apps import bank, calendar, files, people, shop
from rods_office.apps.tooling import Tool

APPS = (files.APP, people.APP, calendar.APP, shop.APP, bank.APP)
TOOLS: Mapping[str, Tool] = {tool.name: tool for app in APPS for tool in app.tools}
OPEN_TOOLS: tuple[str, ...] = tuple(name for name, tool in TOOLS.items() if not tool.held_out)
HELD_OUT_TOOLS: tuple[str, ...] = tuple(name for name, tool in TOOLS.items() if tool.held_out)
