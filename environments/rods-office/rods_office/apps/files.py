"""Files: short texts by name."""

from __future__ import annotations

from rods_office.apps.tooling import App, FileName, State, Text
from rods_office.state import absent, find, get

APP = App("files")


@APP.tool("read")
def read_file(state: State, name: FileName) -> str:
    """Gives the text of a file."""
    return str(get(state, "files", "name", name)["text"])


@APP.tool("write")
def write_file(state: State, name: FileName, text: Text) -> str:
    """Writes a text to a file, which is created or replaced."""
    record = find(state["files"], "name", name)
    if record is None:
        state["files"].append({"name": name, "text": text})
    else:
        record["text"] = text
    return "ok"


@APP.tool("write")
def delete_file(state: State, name: FileName) -> str:
    """Deletes a file."""
    state["files"].remove(get(state, "files", "name", name))
    return "ok"


@APP.tool("write")
def rename_file(state: State, name: FileName, new_name: FileName) -> str:
    """Gives a file a new name that no file has yet."""
    record = get(state, "files", "name", name)
    absent(state, "files", "name", new_name)
    record["name"] = new_name
    return "ok"


@APP.tool("read")
def list_files(state: State) -> str:
    """Lists the files: name and text."""
    return "; ".join(f"{r['name']} {r['text']}" for r in state["files"]) or "none"


@APP.tool("write", held_out=True)
def append_file(state: State, name: FileName, text: Text) -> str:
    """Adds a text to the end of a file."""
    record = get(state, "files", "name", name)
    record["text"] = f"{record['text']} {text}"
    return "ok"
