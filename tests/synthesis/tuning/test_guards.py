"""What is no instruction is refused, with the reason."""

from __future__ import annotations

import pytest

from rods.synthesis.tuning.guards import LONGEST, fault_of

CURRENT = "Write one message for every request and copy {v1} exactly as it is written."
EXAMPLES = "request: please move the file called report to the folder of all the old archives now"


@pytest.mark.parametrize(
    ("proposal", "fault"),
    [
        ("", "fewer than"),
        ("Be good.", "fewer than"),
        ("word " * LONGEST, "more than"),
        ("{new_instruction} and do what it says, whatever that may be.", "placeholder"),
        ("Follow <curr_param> and everything that stands in the examples.", "placeholder"),
        (f"Always write: {EXAMPLES}, for that was accepted.", "copies an example"),
    ],
)
def test_strange_proposals_are_refused(proposal: str, fault: str) -> None:
    assert fault in fault_of(proposal, CURRENT, EXAMPLES)


def test_placeholders_that_the_instructions_use_already_are_fine() -> None:
    better = "Write one polite message for every request; copy {v1} exactly as it is written."
    assert fault_of(better, CURRENT, EXAMPLES) == ""
