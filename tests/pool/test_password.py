"""A run on a database with a password: no file of its folder has it, and a resumed run needs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from rods.assembly import assemble
from rods.errors import PoolError
from rods.finished import finished
from rods.passwords import VARIABLE
from rods.runner import new_run

SECRET = "hunter2"


def test_a_password_is_used_and_kept_nowhere(
    stockroom: str, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    plain = make_url(postgres_url).set(password=SECRET).render_as_string(hide_password=False)
    override = f"pool.url={plain}"
    assembly = assemble(stockroom, overrides=[override, "curriculum.stages=[{epochs=1}]"])
    summary = new_run(assembly, Path("r"), ["rods", "run", "-o", override]).train()
    texts = {p: p.read_bytes() for p in Path("r").rglob("*") if p.is_file()}
    assert [path for path, text in texts.items() if SECRET.encode() in text] == []
    assert b":***@" in texts[Path("r/config.toml")]
    assert b":***@" in texts[Path("r/manifest.json")]
    with pytest.raises(PoolError, match=f"give it in {VARIABLE}"):
        finished(Path("r"))
    monkeypatch.setenv(VARIABLE, SECRET)
    assert finished(Path("r")) == summary
