"""Settings from a TOML file, flags and ``-o table.key=value``, later ones winning.

Values stay plain until a table meets its pydantic class in ``Settings.build``; every value
remembers where it came from, so that an error names the file or the flag.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import tomli_w
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_serializer,
    field_validator,
)

from rods.config_faults import cut, deeper, expected, innermost, is_path, known_keys, leaves, shown
from rods.errors import ConfigError, did_you_mean
from rods.passwords import MASK, VARIABLE, masked

COMPONENT_TABLES = ("environment", "trainer", "selector", "buffer", "synthesizer")
TABLES = ("run", *COMPONENT_TABLES, "synthesis", "curriculum", "pool", "evaluation")
_URL = re.compile(r"[A-Za-z][\w.+-]*://")
_LARGEST = 2**63 - 1  # what databases and random generators take
M = TypeVar("M", bound=BaseModel)
Tables = dict[str, dict[str, Any]]


class Table(BaseModel):
    """Base of the tables that belong to no component."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RunConfig(Table):
    """What runs."""

    plugins: tuple[str, ...] = Field(
        (), description="Plugins to load, as `rods plugins` names them."
    )
    seed: int = Field(0, ge=0, description="Every other seed is derived from it.")
    preset: tuple[str, ...] = Field(
        (), description="Sets of defaults that the parts offer: 'demo', 'paper'; later ones win."
    )

    @field_validator("plugins", "preset", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        """``"a,b"`` is the same as ``["a", "b"]``."""
        return tuple(split_names(value)) if isinstance(value, str) else value


class PoolConfig(Table):
    """Where the tasks are kept."""

    url: str = Field(
        "",
        description="SQLAlchemy URL; empty: pool.sqlite in the run's folder. A password is kept "
        f"nowhere: the run's folder has {MASK} for it, and ${VARIABLE} fills that in.",
    )

    @field_validator("url")
    @classmethod
    def _is_a_url(cls, url: str) -> str:
        if url and not _URL.match(url):
            raise ValueError("expected a URL, such as sqlite:////data/pool.sqlite")
        if url and not url.partition("://")[2].strip("/"):
            raise ValueError("a pool in memory is lost with the process; name a file")
        if "password=" in url:
            raise ValueError("write the password as user:password@host")
        return url

    @field_serializer("url", when_used="json")
    def _without_password(self, url: str) -> str:
        return masked(url)


class EvaluationConfig(Table):
    """The held-out set that is played before and after the training."""

    tasks: int = Field(48, ge=0, description="Held-out tasks, spread over kinds; 0: no evaluation.")
    samples: int = Field(4, ge=1, le=10_000, description="Sampled rollouts of each task.")


def split_names(text: str) -> list[str]:
    """The names of a comma-separated list, without blanks."""
    return [name.strip() for name in text.split(",") if name.strip()]


@dataclass(slots=True)
class Settings:
    """Values by table and key, each with its source."""

    values: Tables = field(default_factory=dict)
    sources: dict[tuple[str, str], str] = field(default_factory=dict)
    file: Path | None = None

    def overlay(self, tables: Mapping[str, Mapping[str, Any]], source: str) -> None:
        """Let ``tables`` win over what is there; unknown tables are errors."""
        for table, key, value in _entries(tables, source):
            mine = self.values.setdefault(table, {})
            mine[key] = merged(mine.get(key), value)
            self.sources[table, key] = source

    def underlay(self, tables: Mapping[str, Mapping[str, Any]], source: str) -> None:
        """Fill in ``tables`` where nothing is set yet."""
        for table, key, value in _entries(tables, source):
            mine = self.values.setdefault(table, {})
            if key not in mine:
                self.sources[table, key] = source
            mine[key] = merged(value, mine.get(key, value))

    def component(self, table: str) -> str | None:
        """The component that ``name = `` chooses in a table, if any."""
        name = self.values.get(table, {}).get("name")
        if name is not None and not isinstance(name, str):
            raise ConfigError(
                f"{table}.name = {name!r} ({self._source(table, 'name')}): not a name."
            )
        return name

    def build(self, table: str, model: type[M]) -> M:
        """The validated table; every fault in it is one line of the ConfigError."""
        values = dict(self.values.get(table, {}))
        if table in COMPONENT_TABLES:
            values.pop("name", None)
        if lines := list(self._unusable(table, model, values)):
            raise ConfigError("\n".join(lines))
        try:
            return model.model_validate(values)
        except ValidationError as error:
            lines = [self._describe(table, model, fault) for fault in innermost(error)]
            raise ConfigError("\n".join(lines)) from error

    def _unusable(self, table: str, model: type[BaseModel], values: Any) -> Iterator[str]:
        """A line for each value that fits its type and that nothing can come of."""
        for path, value in leaves(values):
            name, source = ".".join([table, *map(str, path)]), self._source(table, str(path[0]))
            if isinstance(value, int) and abs(value) > _LARGEST:
                yield f"{name} = {shown(value)} ({cut(source)}): expected at most {_LARGEST}."
            elif value == "" and is_path(model, path):
                yield f"{name} is empty ({source}), which would mean the current folder; name one."

    def _source(self, table: str, key: str) -> str:
        return self.sources.get((table, key), "default")

    def _describe(self, table: str, model: type[BaseModel], error: dict[str, Any]) -> str:
        loc = tuple(error["loc"])
        path = ".".join([table, *map(str, loc)])
        source = self._source(table, str(loc[0])) if loc else "this table"
        if error["type"] == "extra_forbidden":
            hint = len(loc) == 1 and deeper(model, table, str(loc[0]))
            hint = hint or did_you_mean(str(loc[-1]), known_keys(model, loc[:-1]))
            return f"Unknown key {path} ({source}). {hint}"
        if error["type"] == "missing":
            return f"{path} is not set and has no default; set it in a file or with -o {path}=..."
        value = f"{path} = {shown(error['input'])} ({cut(source)})"
        return masked(f"{value}: {expected(error, model)}.")


def load_settings(
    file: Path | None = None,
    overrides: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """TOML < flags (``{"run.seed": 3}``, None is unset) < ``-o`` overrides."""
    settings = Settings(file=file)
    if file is not None:
        settings.overlay(read_toml(file), str(file))
    for path, value in (flags or {}).items():
        if value is not None:
            settings.overlay(_nested(path.split("."), value), f"--{path.split('.')[-1]}")
    for text in overrides:
        settings.overlay(parse_override(text), f"-o {text}")
    return settings


def read_toml(file: Path) -> dict[str, Any]:
    """The parsed file, or a ConfigError that names it and the place."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # an editor's mark is no fault
    except OSError as error:
        raise ConfigError(f"Cannot read {file}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise ConfigError(f"{file} is nested too deeply.") from error
    except ValueError as error:  # more digits than Python converts
        raise ConfigError(f"{file} holds a number that is too long.") from error


def parse_override(text: str) -> Tables:
    """``table.key=value`` as tables; the value is a TOML literal, anything else is a string."""
    path, equals, value = text.partition("=")
    keys = path.strip().split(".")
    if not equals or len(keys) < 2 or not all(keys):
        raise ConfigError(f"-o {text}: expected table.key=value, such as -o trainer.group_size=8.")
    table, *rest = keys
    return {table: _nested(rest, parse_value(value.strip()))}


def parse_value(text: str) -> Any:
    """A TOML literal (8, 0.5, true, [1, 2], "x"), or the text itself."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError as error:
        raise ConfigError(f"The value {text[:20]}... is nested too deeply.") from error
    except ValueError as error:  # more digits than Python converts
        raise ConfigError(f"The number {text[:20]}... is too long.") from error
    return parsed["value"] if parsed.keys() == {"value"} else text


def to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The tables as TOML; None has no place there and is left out."""
    return tomli_w.dumps({name: _without_none(table) for name, table in tables.items() if table})


def merged(below: Any, above: Any) -> Any:
    """``above``, but tables inside are joined key by key."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}


# ------------------------------------------------------------------------------- inside
def _entries(tables: Mapping[str, Any], source: str) -> Iterator[tuple[str, str, Any]]:
    for table, values in tables.items():
        if not isinstance(values, Mapping):
            raise ConfigError(f"{table!r} ({source}) stands outside a table, such as [run].")
        if table not in TABLES:
            raise ConfigError(f"Unknown table {table!r} ({source}). {did_you_mean(table, TABLES)}")
        for key, value in values.items():
            yield table, key, value


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
