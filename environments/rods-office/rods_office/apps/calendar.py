"""The calendar: events with an id, a title and a day."""

from __future__ import annotations

from rods_office.apps.tooling import App, Day, EventId, State, Title
from rods_office.state import fresh_id, get

APP = App("calendar")


@APP.tool("read")
def find_event(state: State, title: Title) -> EventId:
    """Gives the id of the event with this title."""
    return str(get(state, "events", "title", title)["id"])


@APP.tool("write")
def add_event(state: State, title: Title, day: Day) -> EventId:
    """Adds an event and gives its id."""
    event = fresh_id(state, "e")
    state["events"].append({"id": event, "title": title, "day": day})
    return event


@APP.tool("write")
def move_event(state: State, event: EventId, day: Day) -> str:
    """Moves an event to another day."""
    get(state, "events", "id", event)["day"] = day
    return "ok"


@APP.tool("write")
def cancel_event(state: State, event: EventId) -> str:
    """Cancels an event."""
    state["events"].remove(get(state, "events", "id", event))
    return "ok"


@APP.tool("read")
def event_day(state: State, event: EventId) -> str:
    """Gives the day of an event."""
    return str(get(state, "events", "id", event)["day"])


@APP.tool("read")
def list_events(state: State) -> str:
    """Lists the events: id, title and day."""
    return "; ".join(f"{r['id']} {r['title']} {r['day']}" for r in state["events"]) or "none"


@APP.tool("write", held_out=True)
def rename_event(state: State, event: EventId, title: Title) -> str:
    """Gives an event a new title."""
    get(state, "events", "id", event)["title"] = title
    return "ok"
