"""A predictor with one question, and a server that answers it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import dspy
import pytest

from rods.testing.model_server import ModelServer


class Ask(dspy.Signature):
    """Say it as a user would."""

    what: str = dspy.InputField()
    request: str = dspy.OutputField()
    score: int = dspy.OutputField()


class Say(dspy.Signature):
    """Say it as a user would."""

    what: str = dspy.InputField()
    request: str = dspy.OutputField()


@pytest.fixture
def ask() -> dspy.Predict:
    """Text and a number are wanted."""
    return dspy.Predict(Ask)


@pytest.fixture
def say() -> dspy.Predict:
    """Only text is wanted."""
    return dspy.Predict(Say)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Answers every request with the same JSON."""
    with ModelServer(lambda _: json.dumps({"request": "Please do.", "score": 4})) as running:
        yield running
