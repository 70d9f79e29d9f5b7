"""Chance and time of a world as parts of its session, so that equal calls answer equally.

::

    class MySession(rods.Session):
        def __init__(self, task):
            self.fixed = Determinism(task.id)

        def call(self, call):
            with self.fixed:                      # chance, clock and uuids are this session's own
                return self._run(call)

Inside, in this thread, the functions of ``random`` and of ``numpy.random`` (if numpy is loaded),
``uuid1``, ``uuid4``, ``time.time`` and its kin come from the seed and a clock that stands still.
Outside, and in every other thread at the same time, they are the real ones; after the last exit the
modules are as they were. ``snapshot`` and ``restore`` carry the state of all of them.

Not reached: ``datetime`` and names that a module has bound (``from time import time``), unless
``follow`` is told of the module, or ``stand_still``, for a day that never moves;
``random.Random()`` without a seed; ``os.urandom``, ``secrets``; ``monotonic`` and ``perf_counter``,
which time limits need; threads started inside, unless they run in a copy of the context; other
processes; the order of sets (PYTHONHASHSEED). Two threads in one session share its stream in the
order in which they come. ``rods check`` finds much of what is left: it plays the references on
another day, with other chance, and in another process.
"""

from rods.determinism.context import NOON, Determinism, active
from rods.determinism.following import follow, following, package_modules
from rods.determinism.standing import stand_still

__all__ = [
    "NOON",
    "Determinism",
    "active",
    "follow",
    "following",
    "package_modules",
    "stand_still",
]
