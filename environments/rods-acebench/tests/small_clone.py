"""A folder in the shape of an ACEBench clone, of our own making: one phone, one desk, six tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BASE = """
class BaseApi:
    def __init__(self):
        self.wifi = False
        self.logged_in = True

    def _load_scenario(self, scenario, long_context=False):
        self.wifi = scenario.get("wifi", False)
        self.logged_in = scenario.get("logged_in", True)

    def turn_on_wifi(self):
        self.wifi = True
        return {"status": True, "owner": type(self).__name__}
"""
MESSAGE = """
from datetime import datetime
from model_inference.multi_turn.scenariosLANG.phone_platform.base_api import BaseApi

class MessageApi(BaseApi):
    def __init__(self):
        super().__init__()
        self.inbox = {1: {"to": "Ada", "text": "Hello"}}
        self.counter = 1

    def send_message(self, to, text):
        if not self.wifi:
            return {"status": False, "message": "no Wi-Fi"}
        self.counter += 1
        self.inbox[self.counter] = {"to": to, "text": text}
        return {"status": True, "message": "sent"}

    def view_messages(self, to):
        return [m for m in self.inbox.values() if m["to"] == to]
"""
REMINDER = """
from model_inference.multi_turn.scenariosLANG.phone_platform.base_api import BaseApi

class ReminderApi(BaseApi):
    def __init__(self):
        self.reminder_list = {}

    def add_reminder(self, title, time):
        print("added")
        self.reminder_list[len(self.reminder_list) + 1] = {"title": title, "time": time}
        return {"status": True}
"""
FOOD = """
from model_inference.multi_turn.scenariosLANG.phone_platform.base_api import BaseApi

class FoodPlatform(BaseApi):
    def __init__(self):
        self.users, self.logged_in_users, self.orders = {"Ada": {"balance": 9.0}}, [], []

    def order_food(self, user, dish):
        self.users[user]["balance"] -= 4.0
        self.orders.append({"user": user, "dish": dish})
        return {"status": True}
"""
TRAVEL = """
class Travel:
    def __init__(self):
        self.users, self.reservations = {"u1": {"name": "Ada"}}, []

    def _load_scenario(self, scenario, long_context=False):
        pass

    def reserve_flight(self, user, flight, bags=0):
        self.reservations.append({"user": user, "flight": flight, "bags": bags})
        return f"Booked {flight}."
"""
FILES = {
    "phone_platform/base_api.py": BASE,
    "phone_platform/message.py": MESSAGE,
    "phone_platform/reminder.py": REMINDER,
    "phone_platform/food_services.py": FOOD,
    "travel.py": TRAVEL,
}


def _function(name: str, **types: str) -> dict[str, Any]:
    properties = {n: {"type": t, "description": n} for n, t in types.items()}
    parameters = {"type": "dict", "required": [*types], "properties": properties}
    return {"name": name, "description": f"To {name}.", "parameters": parameters}


PHONE = [
    _function("turn_on_wifi"),
    _function("send_message", to="string", text="string"),
    _function("view_messages", to="string"),
    _function("add_reminder", title="string", time="string"),
    _function("order_food", user="string", dish="string"),
]
DESK = [_function("reserve_flight", user="string", flight="string", bags="integer")]
INBOX = {"1": {"to": "Ada", "text": "Hello"}}
ON: dict[str, Any] = {"BaseApi": {"wifi": True, "logged_in": True}}
OFF = {"BaseApi": {"wifi": False, "logged_in": True}}
SENT = {"MessageApi": {"inbox": {**INBOX, "2": {"to": "Bob", "text": "Lunch?"}}}}
NOTED = {"reminder_list": {"1": {"title": "Today's bill", "time": "09:30"}}}
BOOKED = {"users": {"u1": {"name": "Ada"}}, "reservations": [
    {"user": "u1", "flight": "CA1", "bags": 1}]}  # fmt: skip
SEND = "[send_message(to='Bob', text='Lunch?')]"

# question, configuration, classes, functions, ground truth, milestones
STEPS: list[tuple[Any, ...]] = [
    ("Write Bob: Lunch?", OFF, ["BaseApi", "MessageApi"], PHONE, [ON, SENT],
     ["[turn_on_wifi()]", SEND]),
    ("Note Today's bill at 09:30.", ON, ["BaseApi", "ReminderApi"], PHONE,
     [ON, {"ReminderAPI": NOTED}], ["[add_reminder(title='Today's bill', time='09:30')]"]),
    ("Book CA1 for u1 with one bag.", {}, ["Travel"], DESK, {"Travel": BOOKED},
     [["[reserve_flight(user='u1', flight='CA2', bags=1)]"],
      ["[reserve_flight(user='u1', flight='CA1', bags=1)] "]]),
]  # fmt: skip
TURNS: list[tuple[Any, ...]] = [
    ("You want to tell Bob: Lunch?", ON, ["BaseApi", "MessageApi"], PHONE, [ON, SENT], [SEND]),
    ("You want to fly CA1 as u1, with one bag.", {}, ["Travel"], DESK, [{"Travel": BOOKED}],
     ["[reserve_flight(user='u1', flight='CA1', bags=1)]"]),
    ("You want a reminder of Today's bill at 09:30.", ON, ["BaseApi", "ReminderApi"], PHONE,
     [ON, {"Reminderpi": NOTED}], ['[add_reminder(title="Today\'s bill", time="09:30")]']),
]  # fmt: skip


def make(folder: Path) -> Path:
    """The folder, with both languages."""
    for language in ("en", "zh"):
        for part, tasks in (("multi_step", STEPS), ("multi_turn", TURNS)):
            _write_classes(folder / f"model_inference/{part}/scenarios{language}", language)
            _write_tasks(folder / f"data_all/data_{language}", part, tasks)
        _write_texts(folder / "model_inference", language)
    return folder


def _write_classes(folder: Path, language: str) -> None:
    """The multi-step ones too are based on the multi-turn phone, as upstream's are."""
    (folder / "phone_platform").mkdir(parents=True)
    for name, code in FILES.items():
        (folder / name).write_text(code.replace("LANG", language), encoding="utf-8")


def _write_tasks(folder: Path, part: str, tasks: list[tuple[Any, ...]]) -> None:
    (folder / "possible_answer").mkdir(parents=True, exist_ok=True)
    entries, answers = [], []
    for index, (question, config, classes, functions, wanted, stones) in enumerate(tasks):
        name = f"agent_{part}_{index}"
        entries.append({"id": name, "question": question, "initial_config": config, "path": [],
                        "function": functions, "involved_classes": classes})  # fmt: skip
        answers.append({"id": name, "ground_truth": wanted, "mile_stone": stones})
    for path, rows in ((folder, entries), (folder / "possible_answer", answers)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (path / f"data_agent_{part}.json").write_text(lines, encoding="utf-8")


def _write_texts(folder: Path, language: str) -> None:
    tag = language.upper()
    heading = {"en": "Function Calls:", "zh": "函数调用："}[language]
    texts = "\n".join(
        f'{kind}_PROMPT_{tag} = """Rules of the {name}.\n\n{heading}\nWrite [Name(key=1)]."""'
        for kind, name in (("TRAVEL", "desk"), ("BASE", "phone"))
    )
    (folder / f"prompt_{language}.py").write_text(texts, encoding="utf-8")
    user = folder / "multi_turn/APIModel_user.py"
    said = [f'SYSTEM_PROMPT_{kind}_{tag} = """You want: {{instruction}}"""'
            for kind in ("BASE", "TRAVEL")]  # fmt: skip
    before = user.read_text(encoding="utf-8") if user.is_file() else "import no_such_module\n"
    user.write_text(before + "\n".join(said) + "\n", encoding="utf-8")
