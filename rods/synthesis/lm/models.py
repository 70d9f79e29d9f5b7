"""The language models of a synthesis, by stage: inside ``of(stage, key)`` dspy calls use its model.

Nothing here calls ``dspy.configure``: a stage's model, adapter and limits hold in a context that
ends with the ``with`` block, in any thread.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from rods.errors import ConfigError, ModelOutage
from rods.synthesis.lm import usage
from rods.synthesis.lm.config import EMBEDDED, SERVED, LmConfig, ModelConfig
from rods.synthesis.lm.metered import Backend, Breaker, MeteredEngine
from rods.types import Stage

if TYPE_CHECKING:
    import dspy

Opener = Callable[[ModelConfig], Backend]


@dataclass(frozen=True, slots=True)
class _Member:
    """One model as one stage uses it."""

    name: str
    lm: dspy.LM
    adapter: dspy.Adapter


class LanguageModels:
    """Which model a stage uses; models are opened when they are first needed, once for all stages.

    The members of an ensemble take turns by a hash of stage and key: equal keys, equal members.
    """

    def __init__(self, config: LmConfig, opener: Opener | None = None) -> None:
        self._configs = {stage: config.of(stage) for stage in Stage}
        self._open = opener or open_backend
        self._backends: dict[tuple[str, str], tuple[Backend, Breaker]] = {}
        self._members: dict[tuple[Stage, int], _Member] = {}
        self._lock = threading.RLock()

    @classmethod
    def scripted(cls, engine: Backend, config: LmConfig | None = None) -> Self:
        """Every model is played by ``engine``; without a configuration each stage has one."""
        return cls(config or LmConfig(model=("scripted",), retries=0), lambda _: engine)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # programs are copied while they are tuned; connections and bills are shared

    # ------------------------------------------------------------------ for the stages
    def has(self, stage: Stage) -> bool:
        """The stage has a model; without one it works by code alone."""
        return bool(self._configs[stage])

    def name(self, stage: Stage, key: str) -> str:
        """The backbone that ``of`` takes for this key."""
        return self._configs[stage][self._turn(stage, key)].model[0]

    @contextmanager
    def of(self, stage: Stage, key: str) -> Iterator[None]:
        """Inside, dspy's predictors call the stage's model; an outage of it is a ModelOutage."""
        import dspy  # noqa: PLC0415 - slow, and only needed with a model

        member = self._member(stage, self._turn(stage, key))
        with dspy.context(lm=member.lm, adapter=member.adapter, disable_history=True):
            try:
                yield
            except Exception as error:
                outage = _outage_in(error)
                if outage is None or outage is error:
                    raise
                raise outage from outage.__cause__

    def counting(self) -> AbstractContextManager[usage.Meter]:
        """A meter of the calls made inside, in this thread and in copies of its context."""
        return usage.counting()

    # ------------------------------------------------------------------ inside
    @property
    def configs(self) -> dict[Stage, tuple[ModelConfig, ...]]:
        """The models of every stage."""
        return self._configs

    def _turn(self, stage: Stage, key: str) -> int:
        if not self.has(stage):
            raise ConfigError(
                f"The stage {stage.value!r} has no language model; set synthesis.lm.model or "
                f"synthesis.lm.{stage.value}."
            )
        return zlib.crc32(f"{stage.value}:{key}".encode()) % len(self._configs[stage])

    def _member(self, stage: Stage, index: int) -> _Member:
        with self._lock:
            if (stage, index) not in self._members:
                self._members[stage, index] = self._opened(stage, self._configs[stage][index])
            return self._members[stage, index]

    def _opened(self, stage: Stage, config: ModelConfig) -> _Member:
        import dspy  # noqa: PLC0415

        from rods.synthesis.lm.adapters import adapter_for  # noqa: PLC0415 - needs dspy

        # It has a handler of its own for every truncated answer; what that comes to is a rejection.
        logging.getLogger("dspy").setLevel(logging.ERROR)
        (name,) = config.model
        where = (name, config.url)
        if where not in self._backends:
            self._backends[where] = (self._open(config), Breaker(config.outage_s))
        backend, breaker = self._backends[where]
        engine = MeteredEngine(stage, config, backend, breaker)
        options = {} if config.top_p is None else {"top_p": config.top_p}
        lm = dspy.LM(
            f"rods/{name}",
            engine=engine,
            cache=False,  # its key knows neither server nor engine
            num_retries=0,  # the engine has its own
            temperature=config.temperature,
            max_tokens=config.max_tokens,
            **options,
        )
        return _Member(name, lm, adapter_for(config))


def open_backend(config: ModelConfig) -> Backend:
    """What answers for a model's name; a ConfigError for a name of no known kind."""
    (name,) = config.model
    if name.startswith(SERVED):
        from rods.synthesis.lm.server import ServerBackend  # noqa: PLC0415 - needs dspy

        return ServerBackend(config)
    if name == EMBEDDED:
        from rods.synthesis.lm.embedded import embedded_backend  # noqa: PLC0415 - needs xllamacpp

        backend: Backend = embedded_backend()
        return backend
    raise ConfigError(
        f"synthesis.lm.model = {name!r}: expected '{SERVED}NAME' for a model of an "
        f"OpenAI-compatible server, or {EMBEDDED!r}."
    )


def _outage_in(error: BaseException | None) -> ModelOutage | None:
    """The outage that dspy wrapped into an error of its own, if there was one."""
    while error is not None and not isinstance(error, ModelOutage):
        error = error.__cause__
    return error
