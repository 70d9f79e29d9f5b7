"""What every task holds, at every level and for every seed."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rods.errors import ConfigError
from rods.structure import profile_of  # type: ignore[attr-defined]
from rods.testing import check_environment, play, random_calls, reference, silent
from rods.types import KINDS, Task
from rods_office.config import OfficeConfig
from rods_office.environment import OfficeEnvironment
from rods_office.levels import LEVELS, LevelName
