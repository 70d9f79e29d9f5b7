"""BFCL passes the conformance kit that every environment has to pass."""

from __future__ import annotations

from rods_bfcl.environment import BfclEnvironment

from rods.testing import check_environment


def test_the_environment_conforms(environment: BfclEnvironment) -> None:
    failed = [check for check in check_environment(environment, limit=16) if not check.ok]
    assert failed == []
