"""Contacts and messages: a person has a phone, a phone has a last message and takes new ones."""

from __future__ import annotations

from rods_office.apps.tooling import App, Person, Phone, State, Text
from rods_office.state import absent, get

APP = App("people")


@APP.tool("read")
def find_phone(state: State, name: Person) -> Phone:
    """Gives the phone of a contact."""
    return str(get(state, "contacts", "name", name)["phone"])


@APP.tool("write")
def add_contact(state: State, name: Person, phone: Phone) -> str:
    """Adds a contact under a new name."""
    absent(state, "contacts", "name", name)
    state["contacts"].append({"name": name, "phone": phone})
    return "ok"


@APP.tool("write")
def delete_contact(state: State, name: Person) -> str:
    """Deletes a contact."""
    state["contacts"].remove(get(state, "contacts", "name", name))
    return "ok"


@APP.tool("write")
def set_phone(state: State, name: Person, phone: Phone) -> str:
    """Changes the phone of a contact."""
    get(state, "contacts", "name", name)["phone"] = phone
    return "ok"


@APP.tool("read")
def list_contacts(state: State) -> str:
    """Lists the contacts: name and phone."""
    return "; ".join(f"{r['name']} {r['phone']}" for r in state["contacts"]) or "none"


@APP.tool("write")
def send_text(state: State, phone: Phone, text: Text) -> str:
    """Sends a text to a phone."""
    state["sent"].append({"phone": phone, "text": text})
    return "ok"


@APP.tool("read")
def read_inbox(state: State, phone: Phone) -> str:
    """Gives the last message from a phone."""
    return str(get(state, "inbox", "phone", phone)["text"])


@APP.tool("write", held_out=True)
def clear_inbox(state: State, phone: Phone) -> str:
    """Deletes the last message from a phone."""
    state["inbox"].remove(get(state, "inbox", "phone", phone))
    return "ok"
