"""A small MCP server of the standard library alone, with faults on demand (``--fault NAME``).

Its items live in ``shelf.json`` of the folder it is started in, or with ``--in-memory`` in itself.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any

FAULT = sys.argv[sys.argv.index("--fault") + 1] if "--fault" in sys.argv else ""
IN_MEMORY = "--in-memory" in sys.argv
FILE = Path("shelf.json")
memory: dict[str, dict[str, Any]] = {}
saved: dict[str, dict[str, Any]] = {}
calls = 0


def load() -> dict[str, Any]:
    if IN_MEMORY:
        return memory
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def store(items: dict[str, Any]) -> None:
    global memory
    memory = items
    if not IN_MEMORY:
        FILE.write_text(json.dumps(items))


def put(name: str, count: int, owner: str = "nobody") -> Any:
    items = load()
    if count < 0:
        raise ValueError(f"count of {name} is negative")
    items[name] = {"count": count, "owner": owner}
    store(items)
    answer: dict[str, Any] = {"name": name, "place": f"p{len(items)}0{len(name)}"}
    if FAULT == "uuid":
        answer["receipt"] = str(uuid.uuid4())
    if FAULT == "clock":
        answer["at"] = int(time.time())
    return answer


def find(name: str) -> Any:
    items = load()
    if name not in items:
        raise ValueError(f"there is no {name}")
    return {"name": name, **items[name]}


def listing() -> Any:
    if FAULT == "hidden-clock":
        return {"items": load(), "now": time.time()}
    return {"items": load()}


def clear() -> Any:
    store({})
    return "cleared"


def where() -> Any:
    return f"items are kept in {Path.cwd()}/shelf.json of {os.environ.get('SHELF_NAME', '')}"


def save() -> Any:
    saved["1"] = json.loads(json.dumps(load()))
    return "1"


def load_saved(snapshot: str) -> Any:
    store(json.loads(json.dumps(saved[snapshot])))
    return "restored"


def crash() -> Any:
    print("the shelf fell down", file=sys.stderr, flush=True)
    os._exit(3)


def hang() -> Any:
    time.sleep(600)


def flood() -> Any:
    while True:
        sys.stderr.write("x" * 1000 + "\n")


STRING, INTEGER = {"type": "string"}, {"type": "integer", "minimum": 0}
READ, WRITE = {"readOnlyHint": True}, {"readOnlyHint": False}
TOOLS: dict[str, tuple[Any, str, dict[str, Any], list[str], Any]] = {
    "put": (
        put,
        "Puts an item on the shelf.",
        {"name": STRING, "count": INTEGER, "owner": STRING},
        ["name", "count"],
        WRITE,
    ),
    "find": (find, "Finds an item.", {"name": STRING}, ["name"], READ),
    "listing": (listing, "Lists the items.", {}, [], READ),
    "clear": (clear, "Takes everything off the shelf.", {}, [], WRITE),
    "where": (where, "Tells where the items are kept.", {}, [], None),
    "save": (save, "Saves the shelf.", {}, [], WRITE),
    "load_saved": (load_saved, "Restores the shelf.", {"snapshot": STRING}, ["snapshot"], WRITE),
    "crash": (crash, "Ends the server.", {}, [], WRITE),
    "hang": (hang, "Never answers.", {}, [], WRITE),
    "flood": (flood, "Writes to stderr without end.", {}, [], WRITE),
}


def listed() -> list[dict[str, Any]]:
    names = [*TOOLS, "new_tool"] if FAULT == "new-tool" and calls else [*TOOLS]
    return [
        {
            "name": name,
            "description": TOOLS.get(name, TOOLS["where"])[1],
            "inputSchema": {
                "type": "object",
                "properties": TOOLS.get(name, TOOLS["where"])[2],
                "required": TOOLS.get(name, TOOLS["where"])[3],
            },
            **({"annotations": hint} if (hint := TOOLS.get(name, TOOLS["where"])[4]) else {}),
        }
        for name in names
    ]


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    global calls
    calls += 1
    try:
        answer = TOOLS[name][0](**arguments)
    except (ValueError, KeyError, TypeError) as error:
        return {"content": [{"type": "text", "text": f"Error: {error}"}], "isError": True}
    if isinstance(answer, str):
        return {"content": [{"type": "text", "text": answer}]}
    text = json.dumps(answer, indent=2)
    return {"content": [{"type": "text", "text": text}], "structuredContent": answer}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main() -> None:
    if FAULT == "dies-at-start":
        sys.exit("no shelf here")
    for line in sys.stdin:
        message = json.loads(line)
        method, number, params = message["method"], message.get("id"), message.get("params") or {}
        if number is None:
            continue
        if method == "initialize":
            result: dict[str, Any] = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "shelf", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": listed()}
        elif method == "tools/call":
            result = called(params["name"], params.get("arguments") or {})
            if FAULT == "new-tool" and calls == 1:
                send({"method": "notifications/tools/list_changed"})
        else:
            send({"id": number, "error": {"code": -32601, "message": f"no {method}"}})
            continue
        send({"id": number, "result": result})
    if FAULT == "survives":
        time.sleep(600)


if __name__ == "__main__":
    main()
