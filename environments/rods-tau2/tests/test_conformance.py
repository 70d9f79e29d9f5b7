"""tau2 passes the conformance kit that every environment has to pass."""

from __future__ import annotations

import pytest
from rods_tau2.environment import Tau2Environment

from rods.testing import check_environment


@pytest.mark.slow
def test_the_environment_conforms() -> None:
    environment = Tau2Environment(Tau2Environment.Config(domains=("retail", "telecom")))
    failed = [
        check for check in check_environment(environment, limit=12, sessions=8) if not check.ok
    ]
    assert failed == []
