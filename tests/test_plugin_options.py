"""Options as users read them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from rods.interfaces import ComponentConfig
from rods.plugin_options import options


class Adapter(ComponentConfig):
    rank: int = Field(8, description="Rank.")


class Config(ComponentConfig):
    model: str = Field(description="A folder.")
    mode: Literal["a", "b"] = "a"
    adapter: Adapter | None = None
    sampling: Adapter = Adapter(rank=2)
    folder: Path | None = Path("x")
    extra: dict[str, int] = Field(default_factory=lambda: {"n": 1})


def test_options_are_listed_with_dotted_keys_and_readable_types() -> None:
    found = {o["key"]: (o["required"], o["default"], o["type"]) for o in options(Config)}
    assert found == {
        "model": (True, None, "str"),
        "mode": (False, "a", "Literal['a', 'b']"),
        "adapter": (False, None, "Adapter | None"),
        "adapter.rank": (False, 8, "int"),
        "sampling.rank": (False, 2, "int"),
        "folder": (False, "x", "Path | None"),
        "extra": (False, {"n": 1}, "dict[str, int]"),
    }
    assert options(Config)[0]["description"] == "A folder."
