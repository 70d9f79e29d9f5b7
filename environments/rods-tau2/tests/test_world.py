"""Worlds share a database that no call of theirs can change, and answer alike on any day."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from rods_tau2.domains import Domain, DomainName
from rods_tau2.environment import Tau2Environment
from rods_tau2.tables import dump
from rods_tau2.world import World

from rods.types import Task, ToolCall

OPENS = 200


def _finals(domain: Domain, task: Task) -> World:
    world = World(domain, task.initial_state)
    for call in task.turns[0].reference:
        world.call(call.name, call.arguments)
    return world


@pytest.mark.parametrize("name", ["airline", "retail", "mock"])
def test_a_world_opens_in_less_than_a_millisecond(
    name: str, environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    task = next(task for task_id, task in tasks.items() if task_id.startswith(name))
    environment.open(task)
    start = time.process_time()
    for _ in range(OPENS):
        environment.open(task)
    assert (time.process_time() - start) / OPENS < 0.001


def test_no_world_changes_the_shared_database(
    domains: dict[DomainName, Domain], tasks: dict[str, Task]
) -> None:
    domain = domains["retail"]
    before = {table: dump(rows) for table, rows in _rows(domain).items()}
    for task in list(tasks.values()):
        if task.id.startswith("retail/"):
            _finals(domain, task)
    assert {table: dump(rows) for table, rows in _rows(domain).items()} == before


def _rows(domain: Domain) -> dict[str, object]:
    return {
        table: {key: dump(row) for key, row in getattr(domain.database, table).items()}
        for table in domain.layout.tables
    }


def test_only_what_differs_counts_as_changed(
    domains: dict[DomainName, Domain], tasks: dict[str, Task]
) -> None:
    task = tasks["retail/3"]
    world = World(domains["retail"], task.initial_state)
    for call in task.turns[0].reference[:-1]:  # look-ups
        world.call(call.name, call.arguments)
    assert world.changes() == {}
    last = task.turns[0].reference[-1]
    assert not world.call(last.name, last.arguments)[1]
    assert {table for table, _ in world.changes()} == {"orders"}


def test_a_record_of_the_task_takes_the_place_of_the_shared_one(
    domains: dict[DomainName, Domain],
) -> None:
    user = dump(domains["retail"].database.users["yusuf_rossi_9620"])
    renamed = user | {"user_id": "ada_king_1", "name": {"first_name": "Ada", "last_name": "King"}}
    world = World(
        domains["retail"],
        {"records": {"users": {"ada_king_1": renamed}}, "setup": []},
    )
    found = world.call(
        "find_user_id_by_name_zip", {"first_name": "Ada", "last_name": "King", "zip": "19122"}
    )
    assert found == ("ada_king_1", False)
    assert world.changes() == {}


def test_the_id_of_a_new_bill_is_the_same_in_every_run(
    domains: dict[DomainName, Domain], tasks: dict[str, Task]
) -> None:
    domain = domains["telecom"]
    task = next(task for task_id, task in tasks.items() if task_id.startswith("telecom/"))
    seen = []
    for _ in range(2):
        world = World(domain, task.initial_state)
        database = world.kit("assistant").db
        database.bills.clear()  # so that refuelling finds no draft bill and makes one
        line = next(line for line in database.lines if line.status.value == "Active")
        customer = next(c for c in database.customers if line.line_id in c.line_ids)
        customer.bill_ids.clear()
        arguments = {
            "customer_id": customer.customer_id,
            "line_id": line.line_id,
            "gb_amount": 1,
        }
        assert not world.call("refuel_data", arguments)[1]
        seen.append([bill.bill_id for bill in database.bills])
    assert seen[0] == seen[1] != []


def test_a_snapshot_holds_the_ids_drawn_so_far(
    domains: dict[DomainName, Domain], tasks: dict[str, Task]
) -> None:
    task = tasks["retail/3"]
    world = World(domains["retail"], task.initial_state)
    calls = task.turns[0].reference
    snapshot = world.snapshot()
    answers = [world.call(c.name, c.arguments) for c in calls]
    after = world.changes()
    world.restore(snapshot)
    assert world.changes() == {}
    assert [world.call(c.name, c.arguments) for c in calls] == answers
    assert world.changes() == after


def test_an_environment_file_is_not_read_and_nothing_is_logged(
    environment: Tau2Environment,
    tasks: dict[str, Task],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / ".env").write_text("RODS_TAU2_TEST=read\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RODS_TAU2_TEST", raising=False)
    fresh = Tau2Environment(Tau2Environment.Config(domains=("mock",)))
    session = fresh.open(fresh.tasks("train")[0])
    session.call(ToolCall(name="update_task_status", arguments={"task_id": "none"}))
    import os  # noqa: PLC0415 - looked at after the world has been used

    assert "RODS_TAU2_TEST" not in os.environ
    assert capfd.readouterr() == ("", "")


def test_what_is_too_large_is_a_failed_call(
    environment: Tau2Environment, tasks: dict[str, Task]
) -> None:
    session = environment.open(tasks["retail/3"])
    long = {"first_name": "x" * 1_000_000, "last_name": "y", "zip": "1"}
    result = session.call(ToolCall(name="find_user_id_by_name_zip", arguments=long))
    assert result.error
    assert "too long" in result.content
