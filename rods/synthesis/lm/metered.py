"""Around every backend: retries with backoff, a pause for a server that is out, and the bill."""

from __future__ import annotations

import threading
import time
from typing import Any, Protocol

from rods.errors import ModelOutage, reason
from rods.synthesis.lm.config import ModelConfig
from rods.synthesis.lm.usage import record
from rods.types import ModelUsage, Stage

_LONGEST_PAUSE = 16  # times outage_s
_BROKEN, _NOT_FOUND = 500, 404


class Backend(Protocol):
    """What answers: a server, an embedded model, a script."""

    def complete(self, request: Any) -> Any:
        """An ``lm15.Response`` to an ``lm15.Request``; raises what went wrong."""
        ...


class Breaker:
    """Remembers that a backend is out, so that every request after the first fails at once.

    One for each backend, shared by the stages that use it. A pause doubles while the backend stays
    out; the first request after a pause tries it again.
    """

    def __init__(self, pause_s: float) -> None:
        self._pause_s, self._next_s = pause_s, pause_s
        self._until, self._why = 0.0, ""
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise ModelOutage during a pause."""
        left = self._until - time.monotonic()
        if left > 0:
            raise ModelOutage(self._why, retry_after_s=left)

    def out(self, why: str) -> ModelOutage:
        """Begin a pause; the error to raise."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._until, self._why = time.monotonic() + self._next_s, why
                self._next_s = min(2 * self._next_s, _LONGEST_PAUSE * self._pause_s)
            return ModelOutage(why, retry_after_s=max(0.0, self._until - time.monotonic()))

    def well(self) -> None:
        """The backend answered."""
        self._until, self._next_s = 0.0, self._pause_s


class MeteredEngine:
    """An engine for ``dspy.LM``: shared by deep copies, counted, and patient for a while."""

    def __init__(
        self, stage: Stage, config: ModelConfig, backend: Backend, breaker: Breaker
    ) -> None:
        self._stage, self._config, self._backend = stage, config, backend
        self._breaker = breaker
        self.name = config.model[0]
        self.supports_response_schema = True
        self.supported_params = ("response_format", "temperature", "top_p", "max_tokens")

    def __deepcopy__(self, memo: dict[int, Any]) -> MeteredEngine:
        return self

    def complete(self, request: Any) -> Any:
        """The backend's answer; ModelOutage when none is to be had."""
        self._breaker.check()
        began = time.perf_counter()
        try:
            response = self._patiently(request)
        except Exception as error:
            explained = self._explained(error)
            if explained is error:
                raise
            raise explained from error
        self._breaker.well()
        record(self._bill(response, time.perf_counter() - began))
        return response

    def _patiently(self, request: Any) -> Any:
        import tenacity  # noqa: PLC0415 - an extra

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_passing),
            stop=tenacity.stop_after_attempt(1 + self._config.retries),
            wait=tenacity.wait_random_exponential(multiplier=0.5, max=20),
            reraise=True,
        )
        return retrying(self._backend.complete, request)

    def _explained(self, error: Exception) -> Exception:
        where = f" at {self._config.url}" if self._config.url else ""
        if _is_passing(error):
            tries = 1 + self._config.retries
            what = f"did not answer in {tries} {'try' if tries == 1 else 'tries'}"
        elif _is_shut(error):
            what = "refuses every request"
        else:
            return error
        return self._breaker.out(f"The model {self.name!r}{where} {what}: {reason(error)}.")

    def _bill(self, response: Any, seconds: float) -> ModelUsage:
        sent = response.usage.input_tokens or 0
        received = response.usage.output_tokens or 0
        price = (sent * self._config.price_in + received * self._config.price_out) / 1e6
        return ModelUsage(
            stage=self._stage,
            model=self.name,
            calls=1,
            tokens_in=sent,
            tokens_out=received,
            seconds=seconds,
            price=price,
        )


def _is_passing(error: BaseException) -> bool:
    """Trying again may help: the network, a busy server, one that is starting."""
    from dspy import lm15  # noqa: PLC0415 - dspy is slow

    if isinstance(error, lm15.ServerError):
        return getattr(error, "status", None) != _BROKEN  # 500: this request breaks the server
    passing = (lm15.TransportError, lm15.TimeoutError, lm15.RateLimitError, OSError)
    return isinstance(error, passing)


def _is_shut(error: BaseException) -> bool:
    """No request will be answered before someone mends the key, the bill or the model's name."""
    from dspy import lm15  # noqa: PLC0415

    refusals = (lm15.AuthError, lm15.BillingError, lm15.UnsupportedModelError)
    return isinstance(error, refusals) or getattr(error, "status", None) == _NOT_FOUND
