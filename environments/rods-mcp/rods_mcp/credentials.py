"""Values of environment variables in settings: sent to the server, and shown nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from rods.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SHORTEST = 8  # characters; a shorter value is no secret, and would be found everywhere
_CREDENTIAL = re.compile(r"auth|cookie|token|secret|key|password", re.IGNORECASE)


class Credentials:
    """What ``${NAME}`` in settings stands for, and the way back for whatever is shown or kept."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # value -> ${NAME}

    def filled(self, text: str, key: str) -> str:
        """The text with the variables' values; a ConfigError names one that is not set."""

        def value(found: re.Match[str]) -> str:
            name = found.group(1)
            given = os.environ.get(name, "").strip()
            if not given:
                raise ConfigError(
                    f"environment.{key} takes ${{{name}}} from the environment, where it is not "
                    f"set. Set it: export {name}=..."
                )
            if len(given) >= _SHORTEST:
                self._names[given] = found.group()
            return given

        return _VARIABLE.sub(value, text)

    def hidden(self, text: str) -> str:
        """The text with ``${NAME}`` for every value that was filled in."""
        for value in sorted(self._names, key=len, reverse=True):
            text = text.replace(value, self._names[value])
        return text

    def hide(self, value: Any) -> Any:
        """The JSON value with every string in it hidden, keys too."""
        if not self._names:
            return value
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, Mapping):
            return {self.hidden(str(key)): self.hide(item) for key, item in value.items()}
        return [self.hide(item) for item in value] if isinstance(value, list) else value


def is_credential(name: str) -> bool:
    """A header or a parameter of this name holds what nobody else may know."""
    return _CREDENTIAL.search(name) is not None


def refuse_plain(headers: Mapping[str, str]) -> None:
    """A credential that is written out would stand in the run's files: a ConfigError."""
    for name, value in headers.items():
        if is_credential(name) and not _VARIABLE.search(value):
            variable = re.sub(r"\W+", "_", name).upper()
            raise ConfigError(
                f"environment.headers.{name} holds its value, which would stand in the files of "
                f"the run. Put it into a variable of the environment and name that: {name} = "
                f'"${{{variable}}}".'
            )
