"""Synthesis beside training: requests wait in the pool, workers lease them one at a time."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Literal, Protocol

from pydantic import Field

from rods.errors import ModelOutage, PoolError, WorldError
from rods.faults import fault
from rods.interfaces import ComponentConfig, Synthesizer
from rods.pool import SynthesisRequest
from rods.random_seeds import derived_seed
from rods.synthesis.lm.config import LmConfig
from rods.synthesis.lm.usage import Meter, counting
from rods.synthesis.reasons import Reason
from rods.types import ModelUsage, Rejection, Stage, SynthesisOutcome, Task

logger = logging.getLogger(__name__)

_LEASE_S = 30.0  # a killed worker's request is free after it; one that lives renews it
_RENEW_S = 10.0
_POLL_S = 2.0  # other processes may ask too, and deferred requests come back
_CLOSE_S = 30.0
_NICENESS = 10


class RequestPool(Protocol):
    """The part of the pool that the service needs (``rods.pool.Pool`` has it)."""

    def request_synthesis(self, entry_id: str, step: int) -> SynthesisRequest:
        """Ask for variants of an entry."""
        ...

    def waiting(self) -> int:
        """How many requests have no answer yet."""
        ...

    def lease(self, owner: str, seconds: float) -> SynthesisRequest | None:
        """The oldest open request that nobody holds."""
        ...

    def hold(self, request: SynthesisRequest, seconds: float) -> bool:
        """Keep it from others for so long from now; False: somebody else has it."""
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
    workers: int = Field(
        1, ge=1, description="Requests worked on at once in background mode, if models answer so."
    )
    queue: int = Field(
        1000,
        ge=1,
        description="Requests that may wait; a seed beyond is asked for when it is selected again.",
    )
    lm: LmConfig = Field(LmConfig(), description="Language models for the stages; none by default.")


class SynthesisService:
    """Turns requests into candidates.

    A request's variants depend on the run's seed, the entry and the step alone, so both modes make
    the same ones; only in ``sync`` mode is it certain when they enter. A synthesizer that raises
    does not end training: an outage of a world or a language model leaves the request for later,
    any other error is its answer.
    """

    def __init__(
        self, config: SynthesisConfig, *, pool: RequestPool, synthesizer: Synthesizer, seed: int = 0
    ) -> None:
        self._config, self._pool, self._synthesizer = config, pool, synthesizer
        self._seed = seed
        self._owner = f"{os.getpid()}-{id(self):x}"
        self._workers: list[threading.Thread] = []
        self._asked = threading.Event()
        self._stopped = threading.Event()
        self._busy = _Busy()
        self._unbilled = Meter()

    # ------------------------------------------------------------------ from training
    def start(self) -> None:
        """Begin to serve requests, those left from a killed run first."""
        self._stopped.clear()
        if self._config.mode == "sync":
            self._serve_all()
        elif not self._workers:
            self._asked.set()
            for number in range(self._config.workers):
                name = f"rods-synthesis-{number}"
                worker = threading.Thread(target=self._work, name=name, daemon=True)
                self._workers.append(worker)
                worker.start()

    def request(self, entry_id: str, step: int) -> None:
        """Ask for variants of a pool entry; returns at once in background mode.

        Nothing is asked while ``queue`` requests wait: training may be faster than the models.
        """
        if self._pool.waiting() >= self._config.queue:
            full = self._config.queue
            logger.warning("No variants of %s asked for: %d requests wait.", entry_id, full)
            return
        self._pool.request_synthesis(entry_id, step)
        if self._config.mode == "sync":
            self._serve_all()
        else:
            self._asked.set()

    def drain(self) -> None:
        """Wait until no request is being worked on, at most for half a minute; workers stay.

        What is answered later than that enters later, or is asked again when the run resumes.
        """
        if not self._busy.wait_until_idle(_CLOSE_S):
            logger.warning("Synthesis still works on a request after %.0f s.", _CLOSE_S)

    def close(self) -> None:
        """Stop the workers; requests left stay in the pool. Safe to call twice."""
        self._stopped.set()
        self._asked.set()
        workers, self._workers = self._workers, []
        deadline = time.monotonic() + _CLOSE_S
        for worker in workers:
            if worker is not threading.current_thread():
                worker.join(max(0.0, deadline - time.monotonic()))
        if any(worker.is_alive() for worker in workers):
            logger.warning(
                "A synthesis request is still being worked on after %.0f s; it stays in the "
                "pool and is served again when the run resumes.",
                _CLOSE_S,
            )

    # ------------------------------------------------------------------ the workers
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

    def _serve_all(self) -> None:
        while self._serve_next():
            pass

    def _serve_next(self) -> bool:
        """One request was taken; False: none is open."""
        with self._busy:
            if self._stopped.is_set():
                return False
            owner = f"{self._owner}-{threading.get_ident():x}"
            request = self._pool.lease(owner, _LEASE_S)
            if request is None:
                return False
            with _Renewed(self._pool, request):
                outcome = self._outcome(request)
            if outcome is not None:
                self._pool.stage(request, outcome, step=request.step)
            return True

    def _outcome(self, request: SynthesisRequest) -> SynthesisOutcome | None:
        """What the synthesizer made; None: the request waits, for the world or a model is out."""
        with counting() as meter:
            try:
                outcome = self._synthesizer.synthesize(
                    self._pool.task(request.entry_id),
                    n=self._config.variants_per_seed,
                    rng_seed=request_seed(self._seed, request),
                )
            except WorldError as error:
                self._defer(request, error, meter)
                return None
            except PoolError:
                raise
            except Exception as error:  # noqa: BLE001 - a plugin's fault must not end training
                logger.warning("No variants of %s: %s: %s", request.entry_id, _kind(error), error)
                outcome = _failed(error, request)
        return outcome.model_copy(update={"usage": self._bill(meter)})

    def _defer(self, request: SynthesisRequest, error: WorldError, meter: Meter) -> None:
        """The request is open again after a pause; what it cost is billed with the next answer."""
        pause = error.retry_after_s if isinstance(error, ModelOutage) else _LEASE_S
        logger.warning("Variants of %s wait: %s", request.entry_id, error)
        for row in meter.rows():
            self._unbilled.add(row)
        self._pool.hold(request, max(pause, _POLL_S))

    def _bill(self, meter: Meter) -> tuple[ModelUsage, ...]:
        for row in self._unbilled.taken():
            meter.add(row)
        return meter.rows()


class _Busy:
    """Counts who works, and lets others wait until nobody does; meanwhile nobody begins."""

    def __init__(self) -> None:
        self._working = self._waiting = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting == 0)
            self._working += 1

    def __exit__(self, *raised: object) -> None:
        with self._changed:
            self._working -= 1
            self._changed.notify_all()

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Nobody works at this moment; False: somebody still does."""
        with self._changed:
            self._waiting += 1
            idle = self._changed.wait_for(lambda: self._working == 0, timeout_s)
            self._waiting -= 1
            self._changed.notify_all()
        return idle


class _Renewed:
    """Holds a request while a model thinks, however long: nobody else takes it meanwhile."""

    def __init__(self, pool: RequestPool, request: SynthesisRequest) -> None:
        self._pool, self._request = pool, request
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="rods-lease", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *raised: object) -> None:
        self._done.set()
        self._thread.join()

    def _renew(self) -> None:
        while not self._done.wait(_RENEW_S):
            try:
                if not self._pool.hold(self._request, _LEASE_S):
                    return
            except PoolError as error:
                logger.warning("A lease was not renewed: %s", error)


def request_seed(run_seed: int, request: SynthesisRequest) -> int:
    """48 bits that follow from the run's seed, the entry and the step alone."""
    return derived_seed(run_seed, request.entry_id, request.step)


def _failed(error: Exception, request: SynthesisRequest) -> SynthesisOutcome:
    rejection = Rejection(
        stage=Stage.PLAN,
        reason=Reason.PIPELINE_EXCEPTION,
        detail=str(fault(error)),
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
