"""Upstream's tasks as records: one user turn that tells all, and the gold actions as reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rods.types import JsonObject, JsonValue, Split, Task, ToolCall, Turn
from rods_tau2.domains import Domain
from rods_tau2.judging import passes_in_silence
from rods_tau2.tables import dump
from rods_tau2.world import World

ONLY_TURN = (
    "The following is all that I know and want; I will not answer questions. If you would ask me "
    "to confirm something that it covers, I confirm."
)
_PARTS = {
    "reason_for_call": "",
    "known_info": "What I know: ",
    "unknown_info": "What I do not know: ",
    "task_instructions": "How I act: ",
}


def read_tasks(domain: Domain, *, every_held_out: bool = False) -> Iterator[Task]:
    """The tasks of the domain; those without a gold action have an empty reference."""
    held_out = frozenset(domain.splits.get("test", ()))
    for number, entry in enumerate(domain.entries()):
        kept = every_held_out or _held_out(entry, number, held_out)
        split: Split = "eval" if kept else "train"
        yield _flagged(domain, _task(domain, entry, split))


def _held_out(entry: JsonObject, number: int, held_out: frozenset[str]) -> bool:
    """Upstream's test split; of a domain without one (mock) every third task."""
    return entry["id"] in held_out if held_out else number % 3 == 2


def task_id(domain: str, upstream_id: str) -> str:
    """Upstream's id is unique in its domain only."""
    return f"{domain}/{upstream_id}"


def _task(domain: Domain, entry: JsonObject, split: Split) -> Task:
    criteria: dict[str, Any] = entry["evaluation_criteria"]  # type: ignore[assignment]
    actions: list[dict[str, Any]] = criteria.get("actions") or []
    communicate = criteria.get("communicate_info") or []
    initial: dict[str, Any] = _initial(domain, entry)
    initial["checks"] = {
        "basis": criteria.get("reward_basis") or ["DB", "COMMUNICATE"],
        "assertions": criteria.get("env_assertions") or [],
        "communicate": communicate,
        "actions": [
            {key: action[key] for key in ("name", "arguments")}
            | {"compare": action.get("compare_args")}
            for action in actions
        ],
    }
    calls = tuple(ToolCall(name=a["name"], arguments=a["arguments"]) for a in actions)
    reference, records = _played(domain, initial, calls)
    reference = tuple(call for call in reference if call.name in domain.toolspecs)
    initial["checks"]["calls"] = [call.name for call in reference]
    return Task(
        id=task_id(domain.name, str(entry["id"])),
        environment="tau2",
        split=split,
        tools=tuple(domain.toolspecs),
        turns=(
            Turn(user=_told(domain, entry), reference=reference, answer=", ".join(communicate)),
        ),
        initial_state={**initial, "records": records},
    )


def _flagged(domain: Domain, task: Task) -> Task:
    """With ``idle`` if doing nothing solves it, else ``defect`` if it comes without a solution."""
    if passes_in_silence(domain, task):
        return task.model_copy(update={"flags": ("idle",)})
    checks: Any = task.initial_state["checks"]  # in a dialogue, actions may be the user's alone
    solution = task.reference_calls or (domain.dialogue and checks["actions"])
    return task if solution else task.model_copy(update={"flags": ("defect",)})


# ------------------------------------------------------------------------------- the user
def _told(domain: Domain, entry: JsonObject) -> str:
    """What the user says: upstream's ticket where the agent acts alone, else the whole scenario.

    In a dialogue: what the user is told, as upstream words it.
    """
    if domain.dialogue:
        return domain.scenario(entry)
    if domain.layout.solo:
        return str(entry["ticket"])
    scenario: dict[str, Any] = entry["user_scenario"]  # type: ignore[assignment]
    instructions = scenario["instructions"]
    parts = [ONLY_TURN, *_history(entry)]
    if isinstance(instructions, str):
        return "\n\n".join([*parts, instructions])
    parts += [
        prefix + str(instructions[key]) for key, prefix in _PARTS.items() if instructions.get(key)
    ]
    return "\n\n".join(parts)


def _history(entry: JsonObject) -> Iterator[str]:
    """What was said before the task begins; its calls stand in the set-up."""
    for message in _messages(entry):
        if message.get("content") and message["role"] in ("user", "assistant"):
            yield f"Earlier, {message['role']}: {message['content']}"


def _messages(entry: JsonObject) -> list[dict[str, Any]]:
    initial: Any = entry.get("initial_state") or {}
    messages: list[dict[str, Any]] = initial.get("message_history") or []
    return messages


# ------------------------------------------------------------------------------- the world
def _initial(domain: Domain, entry: JsonObject) -> JsonObject:
    """Domain, records that differ from the shared ones, and what happens before the task."""
    initial: Any = entry.get("initial_state") or {}
    setup: list[JsonValue] = [
        {
            "side": step["env_type"],
            "function": step["func_name"],
            "arguments": step["arguments"],
        }
        for step in initial.get("initialization_actions") or []
    ]
    setup += [
        {"call": call["name"], "arguments": call["arguments"]}
        for message in _messages(entry)
        for call in message.get("tool_calls") or []
    ]
    data = (initial.get("initialization_data") or {}).get("agent_data") or {}
    return {"domain": domain.name, "update": data, "setup": setup, **_said_before(domain, entry)}


def _said_before(domain: Domain, entry: JsonObject) -> JsonObject:
    """For a dialogue that upstream begins in its midst: its texts, in order."""
    texts: list[JsonValue] = [
        {"role": message["role"], "content": message["content"]}
        for message in _messages(entry)
        if message.get("content") and message["role"] in ("user", "assistant")
    ]
    return {"history": texts} if domain.dialogue and texts else {}


def _played(
    domain: Domain, initial: JsonObject, calls: tuple[ToolCall, ...]
) -> tuple[tuple[ToolCall, ...], JsonObject]:
    """The gold actions that are no failed look-ups, and the records that the task lives in.

    Some gold actions (23 in retail) are look-ups that fail by design: they change nothing, and an
    agent that knows the right name has no use for them.
    """
    update: Any = initial.pop("update")
    records = _updated(domain, update)
    world = World(domain, {**initial, "records": records})
    reference = tuple(c for c in calls if not world.call(c.name, c.arguments)[1])
    return reference, _records(domain, records, world)


def _updated(domain: Domain, update: Mapping[str, Any]) -> JsonObject:
    """The records that upstream's update of the database changes, merged as upstream merges."""
    records: JsonObject = {}
    for table, rows in update.items():
        shared = getattr(domain.database, table)
        records[table] = {
            key: _merged(dump(shared[key]) if key in shared else {}, row)
            for key, row in rows.items()
        }
    return records


def _merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: _merged(old.get(key), value) for key, value in new.items()}
    return new


def _records(domain: Domain, records: JsonObject, world: World) -> JsonObject:
    """As they are before the task: the records that the reference uses, and their owners' others.

    With them a task is complete in itself, so that names and ids in it can be replaced.
    """
    if not domain.layout.tables:
        return {}
    wanted = {table: dict.fromkeys(ids) for table, ids in world.used().items()}
    database = domain.database
    owned = {"retail": "orders", "airline": "reservations"}.get(domain.name)
    if owned:
        users, rows = database.users, getattr(database, owned)
        of_rows = (rows[key].user_id for key in wanted[owned] if key in rows)
        wanted["users"].update(dict.fromkeys(of_rows))
        of_users = (getattr(users[key], owned) for key in wanted["users"] if key in users)
        wanted[owned].update(dict.fromkeys(key for keys in of_users for key in keys))
    if domain.name == "airline":
        del wanted["flights"]  # closed: every task flies with the same ones
    whole: dict[str, Any] = {}
    for table, ids in wanted.items():
        shared, changed = getattr(database, table), dict(records.get(table) or {})  # type: ignore[arg-type]
        found = {k: dump(shared[k]) for k in ids if k in shared and k not in changed}
        whole[table] = found | changed
    return {table: rows for table, rows in whole.items() if rows}
