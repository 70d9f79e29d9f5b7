"""Functions that stand in for upstream's where these leak, hang or answer at random.

Everything else runs as upstream wrote it. Results are the official ones, but for the order of a set
in two error texts (fixed here) and for calls beyond the bounds (failed calls).
"""

from __future__ import annotations

import decimal
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import mpmath  # type: ignore[import-untyped]

from rods_bfcl.bounds import OutOfBoundsError, bound_power, bound_precision, bound_rounding

_MPMATH = threading.Lock()  # mpmath keeps its precision in one global


class Verbatim:
    """A value whose text was fixed while the precision that it was computed with still held."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def overrides(modules: Mapping[str, ModuleType]) -> Mapping[str, Callable[..., Any]]:
    """Function name -> the function to call instead of upstream's, with the instance first."""
    return {
        **_math(modules["math_api"].MathAPI),
        **_posting(modules["posting_api"].TwitterAPI),
        **_file_system(modules["gorilla_file_system"]),
        **_sets(modules["travel_booking"].TravelAPI, modules["ticket_api"].TicketAPI),
        **_weather(modules["vehicle_control"]),
    }


def _math(upstream: Any) -> dict[str, Callable[..., Any]]:
    def logarithm(self: Any, value: float, base: float, precision: int) -> Any:
        """Upstream leaves mpmath's global precision changed."""
        bound_precision(precision)
        with _MPMATH:
            before = mpmath.mp.dps
            try:
                result = upstream.logarithm(self, value, base, precision)
                if "result" in result:
                    result["result"] = Verbatim(repr(result["result"]))
                return result
            finally:
                mpmath.mp.dps = before

    def square_root(self: Any, number: float, precision: int) -> Any:
        """Upstream leaves the precision of the decimal context changed."""
        bound_precision(precision)
        with decimal.localcontext():
            return upstream.square_root(self, number, precision)

    def power(self: Any, base: float, exponent: float) -> Any:
        bound_power(base, exponent)
        return upstream.power(self, base, exponent)

    def round_number(self: Any, number: float, decimal_places: int = 0) -> Any:
        bound_rounding(number, decimal_places)
        return upstream.round_number(self, number, decimal_places)

    return {
        "logarithm": logarithm,
        "square_root": square_root,
        "power": power,
        "round_number": round_number,
    }


def _posting(upstream: Any) -> dict[str, Callable[..., Any]]:
    def post_tweet(self: Any, content: str, *lists: Any, **named: Any) -> Any:
        """Upstream's default lists are shared by all tweets of all rollouts, and mention() fills
        them."""
        if len(lists) < 1:
            named.setdefault("tags", [])
        if len(lists) < 2:
            named.setdefault("mentions", [])
        return upstream.post_tweet(self, content, *lists, **named)

    return {"post_tweet": post_tweet}


def _file_system(module: Any) -> dict[str, Callable[..., Any]]:
    upstream = module.GorillaFileSystem

    def guarded(name: str) -> Callable[..., Any]:
        function = getattr(upstream, name)

        def moved(self: Any, source: str, destination: str) -> Any:
            item = self._current_dir.contents.get(source)
            result = function(self, source, destination)
            if isinstance(item, module.Directory) and not _is_tree(self.root, module.Directory):
                self.root = self._current_dir = module.Directory(BROKEN)
                raise OutOfBoundsError(f"{name}: the file system has become endless and is lost")
            return result

        return moved

    return {"cp": guarded("cp"), "mv": guarded("mv")}


BROKEN = "<endless>"
MAX_FILES = 20_000


def _is_tree(root: Any, directory: type[Any]) -> bool:
    """No directory contains itself, and all paths together name at most MAX_FILES entries.

    Upstream's cp shares subdirectories instead of copying them, so a few calls could make 2^n paths
    or a loop, and every later search endless.
    """
    sizes: dict[int, int] = {}

    def size(folder: Any, above: frozenset[int]) -> int:
        key = id(folder.contents)
        if key in above:
            raise RecursionError
        if key not in sizes:
            inside = above | {key}
            sizes[key] = sum(
                size(item, inside) if isinstance(item, directory) else 1
                for item in folder.contents.values()
            )
        return 1 + sizes[key]

    try:
        return size(root, frozenset()) <= MAX_FILES
    except RecursionError:
        return False


def _sets(travel: Any, ticket: Any) -> dict[str, Callable[..., Any]]:
    def book_flight(self: Any, *args: Any, **named: Any) -> Any:
        """Upstream prints a set, whose order changes from process to process."""
        result = travel.book_flight(self, *args, **named)
        if str(result.get("error", "")).startswith("Invalid travel class. Must be one of"):
            classes = "{'business', 'economy', 'first'}"
            result["error"] = f"Invalid travel class. Must be one of {classes}"
        return result

    def edit_ticket(self: Any, ticket_id: int, updates: Any) -> Any:
        """Upstream joins a set, whose order changes from process to process."""
        result = ticket.edit_ticket(self, ticket_id, updates)
        if str(result.get("error", "")).startswith("Invalid fields for update: "):
            unknown = set(updates) - {"title", "description", "status", "priority"}
            result["error"] = "Invalid fields for update: " + ", ".join(sorted(unknown))
        return result

    return {"book_flight": book_flight, "edit_ticket": edit_ticket}


def _weather(module: Any) -> dict[str, Callable[..., Any]]:
    upstream = module.VehicleControlAPI

    def get_outside_temperature_from_google(self: Any) -> Any:
        """Upstream writes the temperature into a table that all rollouts share."""
        if not self.long_context:
            return upstream.get_outside_temperature_from_google(self)
        temperature = self._random.uniform(-10.0, 40.0)  # as upstream draws it
        return {**module.LONG_WEATHER_EXTENSION, "outsideTemperature": temperature}

    return {"get_outside_temperature_from_google": get_outside_temperature_from_google}
