"""Calls that solve a task of the real clone, made from what its answer wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rods_acebench.environment import AcebenchEnvironment
from rods_acebench.judging import meant

from rods.types import Task, ToolCall

Wanted = dict[str, Any]
Calls = Iterator[ToolCall]


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def switches(wanted: Wanted, _: Wanted) -> Calls:
    yield call("login_device")
    if wanted["wifi"]:
        yield call("turn_on_wifi")


def orders(wanted: Wanted, _: Wanted) -> Calls:
    for user in wanted["logged_in_users"]:
        password = wanted["users"][user]["password"]
        yield call("login_food_platform", username=user, password=password)
    for order in wanted["orders"]:
        items = [{k: item[k] for k in ("product", "quantity")} for item in order["items"]]
        merchant = {"username": order["user_name"], "merchant_name": order["merchant_name"]}
        yield call("add_food_delivery_order", **merchant, items=items)


def messages(wanted: Wanted, start: Wanted) -> Calls:
    for number in start["inbox"].keys() - wanted["inbox"].keys():
        yield call("delete_message", message_id=int(number))
    for number in wanted["inbox"].keys() - start["inbox"].keys():
        message = wanted["inbox"][number]
        ends = {"sender_name": message["sender_id"], "receiver_name": message["receiver_id"]}
        names = {end: start["contacts"][who] for end, who in ends.items()}
        yield call("send_message", **names, message=message["message"])


def reminders(wanted: Wanted, start: Wanted) -> Calls:
    for number, reminder in wanted["reminder_list"].items():
        if start["reminder_list"].get(number) != reminder:
            texts = {key: reminder[key] for key in ("title", "description", "time")}
            yield call("add_reminder", **texts)


def flights(wanted: Wanted, start: Wanted) -> Calls:
    had = {old["reservation_id"]: old for old in start["reservations"]}
    for new in wanted["reservations"]:
        old = had.get(new["reservation_id"])
        if old is None:
            yield booked(new, wanted["users"][new["user_id"]]["password"])
        elif old != new:
            yield changed(old, new)


def booked(new: Wanted, password: str) -> ToolCall:
    same = {key: new[key] for key in ("user_id", "flight_no", "cabin", "payment_method")}
    return call("reserve_flight", **same, password=password, baggage_count=new["baggage"])


def changed(old: Wanted, new: Wanted) -> ToolCall:
    changes = {f"new_{k}": new[k] for k in ("flight_no", "cabin") if new[k] != old[k]}
    if more := new["baggage"] - old["baggage"]:
        changes["add_baggage"] = more
    return call("modify_flight", **{k: new[k] for k in ("user_id", "reservation_id")}, **changes)


WAYS: dict[str, Callable[[Wanted, Wanted], Calls]] = {
    "BaseApi": switches,
    "FoodPlatform": orders,
    "MessageApi": messages,
    "ReminderApi": reminders,
    "Travel": flights,
}


def solution(environment: AcebenchEnvironment, task: Task) -> tuple[ToolCall, ...]:
    session = environment.open(task)
    start: Any = session.state()
    if "MessageApi" in start:
        people = session._instances["MessageApi"].user_list.items()
        start["MessageApi"]["contacts"] = {person["user_id"]: name for name, person in people}
    answers: Any = task.initial_state["wanted"]
    wanted = {meant(name): value for answer in answers for name, value in answer.items()}
    known = [name for name in WAYS if name in wanted]
    return tuple(call for name in known for call in WAYS[name](wanted[name], start[name]))
