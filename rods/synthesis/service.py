"""Synthesis beside training: requests wait in the pool, a worker leases them one at a time."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from typing import Literal, Protocol

from pydantic import Field

from rods.errors import PoolError, WorldError
from rods.interfaces import ComponentConfig, Synthesizer
from rods.pool import SynthesisRequest
from rods.synthesis.reasons import Reason
from rods.types import Rejection, Stage, SynthesisOutcome, Task

logger = logging.getLogger(__name__)

_LEASE_S = 30.0  # a killed worker's request is free after it; one answered twice counts once
_POLL_S = 2.0  # other processes may ask too
_CLOSE_S = 30.0
_NICENESS = 10


class RequestPool(Protocol):
    """The part of the pool that the service needs (``rods.pool.Pool`` has it)."""

    def request_synthesis(self, entry_id: str, step: int) -> SynthesisRequest:
        """Ask for variants of an entry."""
        ...

    def lease(self, owner: str, seconds: float) -> SynthesisRequest | None:
        """The oldest open request that nobody holds."""
        ...

    def stage(self, request: SynthesisRequest, outcome: SynthesisOutcome, *, step: int) -> int:
        """Answer a request."""
        ...

    def task(self, entry_id: str) -> Task:
        """The task of an entry."""
        ...


class SynthesisConfig(ComponentConfig):
    """How variants are made."""

    mode: Literal["background", "sync"] = Field(
        "background", description="'sync' makes variants inside observe(): exact repeats."
    )
    variants_per_seed: int = Field(1, ge=1, description="Variants asked for at each selection.")


class SynthesisService:
    """Turns requests into candidates.

    A request's variants depend on the run's seed, the entry and the step alone, so both modes make
    the same ones; only in ``sync`` mode is it certain when they enter. A synthesizer that raises
    does not end training: an outage leaves the request for later, any other error is its answer.
    """

    def __init__(
        self, config: SynthesisConfig, *, pool: RequestPool, synthesizer: Synthesizer, seed: int = 0
    ) -> None:
        self._config, self._pool, self._synthesizer = config, pool, synthesizer
        self._seed = seed
        self._owner = f"{os.getpid()}-{id(self):x}"
        self._worker: threading.Thread | None = None
        self._asked = threading.Event()
        self._stopped = threading.Event()
        self._working = threading.Lock()

    # ------------------------------------------------------------------ from training
    def start(self) -> None:
        """Begin to serve requests, those left from a killed run first."""
        self._stopped.clear()
        if self._config.mode == "sync":
            while self._serve_next():
                pass
        elif self._worker is None:
            self._asked.set()
            self._worker = threading.Thread(target=self._work, name="rods-synthesis", daemon=True)
            self._worker.start()

    def request(self, entry_id: str, step: int) -> None:
        """Ask for variants of a pool entry; returns at once in background mode."""
        request = self._pool.request_synthesis(entry_id, step)
        if self._config.mode == "sync":
            self._serve(request)
        else:
            self._asked.set()

    def drain(self) -> None:
        """Wait until no request is being worked on; the worker stays."""
        with self._working:
            pass

    def close(self) -> None:
        """Stop the worker; requests left stay in the pool. Safe to call twice."""
        self._stopped.set()
        self._asked.set()
        worker, self._worker = self._worker, None
        if worker is not None and worker is not threading.current_thread():
            worker.join(_CLOSE_S)
            if worker.is_alive():
                logger.warning(
                    "A synthesis request is still being worked on after %.0f s; it stays in the "
                    "pool and is served again when the run resumes.",
                    _CLOSE_S,
                )

    # ------------------------------------------------------------------ the worker
    def _work(self) -> None:
        _step_back()
        while not self._stopped.is_set():
            try:
                served = self._serve_next()
            except PoolError as error:
                logger.warning("Synthesis waits for the pool: %s", error)
                served = False
            if not served:
                self._asked.wait(_POLL_S)
                self._asked.clear()

    def _serve_next(self) -> bool:
        """One request was taken; False: none is open."""
        with self._working:
            if self._stopped.is_set():
                return False
            request = self._pool.lease(self._owner, _LEASE_S)
            if request is None:
                return False
            self._serve(request)
            return True

    def _serve(self, request: SynthesisRequest) -> None:
        """The request is answered, or left for later if the world or the synthesizer is out."""
        try:
            outcome = self._synthesizer.synthesize(
                self._pool.task(request.entry_id),
                n=self._config.variants_per_seed,
                rng_seed=request_seed(self._seed, request),
            )
        except WorldError as error:
            logger.warning("Variants of %s wait: %s", request.entry_id, error)
            return
        except PoolError:
            raise
        except Exception as error:  # noqa: BLE001 - a plugin's fault must not end training
            logger.warning("No variants of %s: %s: %s", request.entry_id, _kind(error), error)
            outcome = _failed(error, request)
        self._pool.stage(request, outcome, step=request.step)


def request_seed(run_seed: int, request: SynthesisRequest) -> int:
    """48 bits that follow from the run's seed, the entry and the step alone."""
    key = f"{run_seed}/{request.entry_id}/{request.step}"
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6], "big")


def _failed(error: Exception, request: SynthesisRequest) -> SynthesisOutcome:
    rejection = Rejection(
        stage=Stage.PLAN,
        reason=Reason.PIPELINE_EXCEPTION,
        detail=f"{_kind(error)}: {error}"[:300],
        seed_id=request.entry_id,
    )
    return SynthesisOutcome(rejections=(rejection,))


def _kind(error: Exception) -> str:
    return type(error).__name__


def _step_back() -> None:
    """The present thread yields to training where the system has a priority for threads (Linux)."""
    if hasattr(os, "setpriority"):
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        except OSError as error:
            logger.debug("The synthesis thread keeps its priority: %s", error)
