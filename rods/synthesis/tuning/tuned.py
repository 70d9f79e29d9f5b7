"""``tuned.json``: instructions and demonstrations by predictor, under their signatures' hashes.

dspy's own files load into any signature with as many fields, by position, without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rods.digests import canonical_json, digest
from rods.errors import DataError, did_you_mean
from rods.files import write_atomic
from rods.types import Record

FORMAT = "rods-tuned-1"


class TunedPredictor(Record):
    """What one predictor says to its model beside the fields."""

    signature: str  # hash of the fields: names, directions, types
    instructions: str
    demos: tuple[dict[str, Any], ...] = ()


class TunedProgram(Record):
    """The predictors that tuning changed, and what it was worth."""

    format: str = FORMAT
    predictors: dict[str, TunedPredictor]
    made: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it; for people: models, seeds, yields

    @property
    def digest(self) -> str:
        """16 hex digits of SHA-256 over what a model sees of it; equal prompts, equal digest."""
        said = {name: one.model_dump(mode="json") for name, one in self.predictors.items()}
        return digest(said, digits=16)

    def write(self, path: Path) -> None:
        """The file is there, whole."""
        body = {**self.model_dump(mode="json"), "digest": self.digest}
        write_atomic(path, json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def read_program(path: Path) -> TunedProgram:
    """The file's content; a DataError where it is none, or was changed by hand."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        digest = body.pop("digest", None)
        program = TunedProgram.model_validate(body)
    except OSError as error:
        raise DataError(f"Cannot read the tuned prompts {path}: {error.strerror}.") from error
    except (ValueError, AttributeError, TypeError, ValidationError) as error:
        raise DataError(f"{path} holds no tuned prompts; `rods tune --out` writes them.") from error
    if program.format != FORMAT or digest != program.digest:
        raise DataError(
            f"{path} was changed after `rods tune` wrote it, or by another version of rods: its "
            f"digest is {digest}, that of its content {program.digest}."
        )
    return program


def apply_program(path: str | Path, module: Any) -> str:
    """Give the predictors of a dspy module what the file says; the file's digest.

    A name or a signature that does not fit is a DataError: nothing is applied by position.
    """
    program = read_program(Path(path))
    predictors = named(module)
    for name, tuned in program.predictors.items():
        if name not in predictors:
            raise DataError(
                f"{path} tunes a predictor {name!r} that there is not. "
                f"{did_you_mean(name, predictors)}"
            )
        if signature_hash(predictors[name].signature) != tuned.signature:
            raise DataError(
                f"{path} was made for another signature of {name!r}; run `rods tune` again."
            )
    for name, tuned in program.predictors.items():
        predictor = predictors[name]
        predictor.signature = predictor.signature.with_instructions(tuned.instructions)
        predictor.demos = [dict(demo) for demo in tuned.demos]
    return program.digest


def kept_program(folder: Path, given: str) -> str:
    """The run's own copy of the tuned prompts, so that it resumes with those that it began with."""
    own = folder / "tuned.json"
    if given and not own.exists():
        read_program(Path(given)).write(own)
    return str(own) if own.exists() else ""


def named(module: Any) -> dict[str, Any]:
    """The predictors by the last part of their name, which is that of their question."""
    found = {name.rpartition(".")[2]: predictor for name, predictor in module.named_predictors()}
    if len(found) < len(module.named_predictors()):
        raise DataError("Two predictors of the program have one name.")
    return found


def signature_hash(signature: Any) -> str:
    """16 hex digits over the fields: what is asked and answered, not how it is put."""
    fields = [
        [name, field.json_schema_extra["__dspy_field_type"], _type(field.annotation)]
        for name, field in signature.fields.items()
    ]
    return digest(fields, digits=16)


def _type(annotation: Any) -> str:
    """A type as text that does not depend on the module that it is defined in."""
    if hasattr(annotation, "model_json_schema"):
        return canonical_json(annotation.model_json_schema())
    arguments: Iterable[Any] = getattr(annotation, "__args__", ())
    origin = getattr(annotation, "__origin__", annotation)
    name = getattr(origin, "__name__", str(origin))
    return f"{name}[{', '.join(map(_type, arguments))}]" if arguments else name


def changed(module: Any, candidate: Mapping[str, str], demos: Mapping[str, Any]) -> TunedProgram:
    """The program of those predictors whose instructions or demonstrations are not the module's."""
    made = {}
    for name, predictor in named(module).items():
        instructions = candidate.get(name, predictor.signature.instructions)
        shown = tuple(demos.get(name, ()))
        if instructions != predictor.signature.instructions or shown:
            made[name] = TunedPredictor(
                signature=signature_hash(predictor.signature),
                instructions=instructions,
                demos=shown,
            )
    return TunedProgram(predictors=made)
