"""Every reason of the funnel is explained, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

from rods.synthesis.reasons import Reason

PAGE = Path(__file__).parents[2] / "docs" / "synthesis.md"
ROW = re.compile(r"^\| `(\w+)` \| (\+?) ?\| ([^|]+) \|$", re.MULTILINE)


def test_the_page_explains_every_reason_and_which_can_be_mended() -> None:
    rows = {
        name: (again.strip(), text.strip()) for name, again, text in ROW.findall(PAGE.read_text())
    }
    assert set(rows) == {reason.value for reason in Reason}
    assert {name for name, (again, _) in rows.items() if again} == {
        reason.value for reason in Reason if reason.patchable
    }
    assert all(len(text) > 20 for _, text in rows.values())


def test_the_page_explains_what_the_table_prints() -> None:
    text = PAGE.read_text()
    for label in ("distance, mean", "distance, largest", "isomorphic share", "of other functions"):
        assert f"`{label}`" in text
