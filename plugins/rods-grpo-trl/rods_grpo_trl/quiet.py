"""Warnings that TRL and PEFT earn, not our user."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """TRL 1.16 and PEFT 0.21 still use names of models that transformers 5.24 deprecates."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"`(is_)?gradient_checkpointing\w*` is deprecated")
        yield
