"""Settings of all tests: how long an example takes says nothing on a machine that is shared."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("hypothesis"):  # the environment of `make test-vllm` has none
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("shared machine")
