"""ACEBench Agent on a small clone of our own making."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rods_acebench.clone import Clone
from rods_acebench.environment import AcebenchEnvironment
from rods_acebench.judging import Goal, meant
from rods_acebench.milestones import parse_calls, references

from rods.cli import main
from rods.errors import DataError
from rods.testing import check_environment
from rods.testing.agents import play, reference, script
from rods.testing.model_server import ModelServer
from rods.types import AssistantMessage, ProgressReward, Task, ToolCall


def made(path: Path, **options: Any) -> AcebenchEnvironment:
    return AcebenchEnvironment(AcebenchEnvironment.Config(path=path, **options))


def task_of(environment: AcebenchEnvironment, task_id: str) -> Task:
    return next(task for task in environment.tasks("eval") if task.id == task_id)


def reward_of(environment: AcebenchEnvironment, task: Task, *calls: ToolCall) -> ProgressReward:
    said = AssistantMessage(calls=calls) if calls else AssistantMessage(content="No.")
    reward = play(environment, task, script(said, AssistantMessage(content="Done."))).reward
    assert reward is not None
    return reward


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


LUNCH = call("send_message", to="Bob", text="Lunch?")


# ------------------------------------------------------------------------------- data
def test_the_small_clone_conforms(environment: AcebenchEnvironment) -> None:
    assert [check for check in check_environment(environment) if not check.ok] == []


def test_without_a_clone_the_user_learns_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"git clone .*commit e6db74b.*environment.path=FOLDER"):
        AcebenchEnvironment().tasks("eval")
    with pytest.raises(DataError, match="holds no clone of ACEBench"):
        made(tmp_path).tasks("eval")


def test_a_clone_that_lacks_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "model_inference").mkdir()
    with pytest.raises(DataError, match="lacks data_all/data_en/possible_answer"):
        made(tmp_path).tasks("eval")


def damaged(clone: Path, copy: Path, member: str, text: str) -> AcebenchEnvironment:
    """A copy of the clone with one file replaced."""
    shutil.copytree(clone, copy, dirs_exist_ok=True)
    (copy / member).write_text(text, encoding="utf-8")
    return made(copy)


PHONE = "model_inference/multi_step/scenariosen/phone_platform"
DATA = "data_all/data_en"
TURNS = f"{DATA}/data_agent_multi_turn.json"
ANSWERS = f"{DATA}/possible_answer/data_agent_multi_step.json"


@pytest.mark.parametrize(
    ("member", "text", "message"),
    [
        (TURNS, '{"id": 1}\n{"id"', r"multi_turn\.json:2 is not JSON"),
        (TURNS, "[1]", r"multi_turn\.json:1 is no object with an 'id'"),
        (ANSWERS, "", "no answer to agent_multi_step_0"),
        (f"{PHONE}/message.py", "class", r"message\.py of this clone is not Python"),
        (f"{PHONE}/message.py", "import no_such_module", "has no classes .*no_such_module"),
        (f"{PHONE}/message.py", "MessageAPI = 1", "has no classes .*MessageApi"),
        (f"{PHONE}/message.py", "import model_inference.core", "lacks model_inference/core"),
    ],
)
def test_a_damaged_file_is_named(
    clone: Path, tmp_path: Path, member: str, text: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        damaged(clone, tmp_path, member, text).tasks("eval")


def test_a_line_is_a_task_whatever_it_holds(clone: Path, tmp_path: Path) -> None:
    text = (clone / TURNS).read_text(encoding="utf-8").replace("You want", "You\u2028want")
    tasks = damaged(clone, tmp_path, TURNS, text).tasks("eval")
    assert [task.turns[0].user[:8] for task in tasks[3:]] == ["You\u2028want"] * 3


def test_what_a_class_is_based_on_in_the_other_category_counts(clone: Path) -> None:
    hashes = made(clone, categories=("multi_step",)).data_hashes()
    assert "model_inference/multi_turn/scenariosen/phone_platform/base_api.py" in hashes
    assert "model_inference/multi_turn/scenariosen/phone_platform/message.py" not in hashes


def test_categories_and_languages_are_chosen(clone: Path) -> None:
    assert len(made(clone).tasks("eval")) == 6
    assert len(made(clone, categories=("multi_turn",), language="zh").tasks("eval")) == 3
    assert made(clone).tasks("train") == []
    with pytest.raises(ValidationError):
        made(clone, language="fr")


def test_schemas_are_json_schema(environment: AcebenchEnvironment) -> None:
    bags = environment.tools()["reserve_flight"].properties["bags"]
    assert bags["type"] == "integer"
    assert environment.tools()["view_messages"].effect == "read"
    assert environment.tools()["send_message"].parameters["type"] == "object"


def test_hashes_name_every_file_that_counts(environment: AcebenchEnvironment) -> None:
    hashes = environment.data_hashes()
    assert "data_all/data_en/possible_answer/data_agent_multi_turn.json" in hashes
    assert "model_inference/multi_step/scenariosen/phone_platform/message.py" in hashes
    assert "model_inference/prompt_en.py" in hashes


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_policy_that_talks_with_a_user_gets_the_clones_rules_but_for_calls_as_text(
    clone: Path, language: str
) -> None:
    environment = made(clone, language=language, user="openai/tiny")
    phone = environment.instructions(task_of(environment, "agent_multi_turn_0"))
    desk = environment.instructions(task_of(environment, "agent_multi_turn_1"))
    assert phone.endswith("Rules of the phone.")
    assert desk.endswith("Rules of the desk.")
    assert "ask the user" in phone


def test_where_nobody_answers_the_policy_is_told_so(environment: AcebenchEnvironment) -> None:
    alone = environment.instructions(task_of(environment, "agent_multi_step_0"))
    assert "Nobody answers questions" in alone
    assert (
        "Rules" not in alone
    )  # upstream has rules of talking with a user only in multi-turn tasks
    scripted = environment.instructions(task_of(environment, "agent_multi_turn_0"))
    assert "Rules of the phone." in scripted
    assert "without asking" in scripted


def test_the_words_of_a_model_as_user_count(clone: Path) -> None:
    words = "model_inference/multi_turn/APIModel_user.py"
    assert words not in made(clone).data_hashes()
    assert words in made(clone, user="openai/tiny").data_hashes()


# ------------------------------------------------------------------------------- references
def test_milestones_are_references_only_where_they_run_to_the_goal(
    environment: AcebenchEnvironment,
) -> None:
    flags = {task.id: task.flags for task in environment.tasks("eval")}
    assert flags["agent_multi_step_0"] == ("multi_step",)
    assert "defect" in flags["agent_multi_step_1"]  # an apostrophe in quotes: no call
    booked = task_of(environment, "agent_multi_step_2").turns[0].reference
    assert booked == (call("reserve_flight", user="u1", flight="CA1", bags=1),)  # the second way


@pytest.mark.parametrize(
    "text", ["f(g())", "f(x=g())", "f(1)", "a.b(x=1)", "f(**{'x': 1})", "f(x=1", "x", "__import__"]
)
def test_what_is_no_call_with_literals_is_no_reference(text: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        parse_calls(text)
    assert list(references([text])) == []


# ------------------------------------------------------------------------------- verdicts
def test_the_reference_solves_and_half_the_way_does_not(environment: AcebenchEnvironment) -> None:
    task = task_of(environment, "agent_multi_step_0")
    assert reward_of(environment, task, call("turn_on_wifi"), LUNCH).solved
    assert not reward_of(environment, task).solved
    switched = reward_of(environment, task, call("turn_on_wifi"))
    assert not switched.solved
    assert switched.under("judged") == 0.0  # a precondition of the goal, no part of it


def test_other_words_and_what_was_spoilt_cost(environment: AcebenchEnvironment) -> None:
    task = task_of(environment, "agent_multi_turn_1")
    book = call("reserve_flight", user="u1", flight="CA1", bags=1)
    assert reward_of(environment, task, book).solved
    assert not reward_of(environment, task, book, book).solved  # lists are compared as a whole
    late = book.model_copy(update={"arguments": {**book.arguments, "bags": 2}})
    assert not reward_of(environment, task, late).solved


def test_an_extra_entry_of_a_dict_passes_as_it_does_upstream(
    environment: AcebenchEnvironment,
) -> None:
    task = task_of(environment, "agent_multi_turn_0")
    more = call("send_message", to="Ada", text="Bye")
    assert reward_of(environment, task, LUNCH, more).solved
    assert not reward_of(environment, task, more, LUNCH).solved  # number 2 is another message


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ReminderAPI", "ReminderApi"),
        ("Reminderpi", "ReminderApi"),
        ("MessageAPI", "MessageApi"),
        ("Travel", "Travel"),
        ("Finance", "Finance"),
    ],
)
def test_a_misspelt_class_is_the_nearest_one(written: str, name: str) -> None:
    assert meant(written) == name


def reminders(*titles: str) -> dict[str, Any]:
    return {"reminder_list": {str(n): {"title": title} for n, title in enumerate(titles, 1)}}


def test_a_misspelt_answer_that_was_written_for_another_start_is_passed_over() -> None:
    start, ended = {"ReminderApi": reminders("Old")}, {"ReminderApi": reminders("Old", "Bill")}
    other = Goal([{"ReminderAPI": reminders("Bill")}], "aliases", start)
    assert other.reached(ended)  # no call gets from the first one to what is wanted there
    fitting = Goal([{"ReminderAPI": reminders("Old", "Bill")}], "aliases", start)
    assert fitting.reached(ended)
    assert not fitting.reached(start)


def test_a_right_name_is_compared_whatever_the_start_is() -> None:
    start, ended = {"ReminderApi": reminders("Old")}, {"ReminderApi": reminders("Bill")}
    goal = Goal([ended], "aliases", start)
    assert not goal.reached(start)
    assert goal.reached(ended)


def test_a_misspelt_class_is_compared_or_passed_over(clone: Path) -> None:
    wrong = call("add_reminder", title="Bill", time="09:30")
    right = call("add_reminder", title="Today's bill", time="09:30")
    aliases, literal = made(clone), made(clone, class_names="literal")
    for task_id in ("agent_multi_step_1", "agent_multi_turn_2"):
        assert reward_of(aliases, task_of(aliases, task_id), right).solved
        assert not reward_of(aliases, task_of(aliases, task_id), wrong).solved
        assert reward_of(literal, task_of(literal, task_id), wrong).solved
        assert "idle" in task_of(literal, task_id).flags
    assert "passed over" in literal.protocol()


def test_a_method_of_several_classes_runs_on_each_and_the_last_answers(
    environment: AcebenchEnvironment,
) -> None:
    session = environment.open(task_of(environment, "agent_multi_step_0"))
    assert json.loads(session.call(call("turn_on_wifi")).content)["owner"] == "MessageApi"
    assert not session.call(LUNCH).error
    assert session.state()["BaseApi"] == {"wifi": True, "logged_in": True}


@pytest.mark.parametrize("name", ["_load_scenario", "__init__", "inbox", "order_food", "eval"])
def test_only_public_methods_of_the_involved_classes_can_be_called(
    environment: AcebenchEnvironment, name: str
) -> None:
    session = environment.open(task_of(environment, "agent_multi_step_0"))
    before = session.state()
    assert session.call(call(name)).error
    assert session.state() == before


def test_classes_say_nothing_on_the_screen(
    environment: AcebenchEnvironment, capsys: pytest.CaptureFixture[str]
) -> None:
    session = environment.open(task_of(environment, "agent_multi_step_1"))
    session.call(call("add_reminder", title="Bill", time="09:30"))
    assert capsys.readouterr().out == ""


def test_two_languages_and_categories_do_not_share_classes(clone: Path) -> None:
    english = Clone(clone, "en")
    assert english.classes("multi_step") == english.classes("multi_step")
    assert english.classes("multi_step")["Travel"] is not english.classes("multi_turn")["Travel"]
    assert Clone(clone, "zh").classes("multi_step")["Travel"].__module__.endswith("zh.travel")


# ------------------------------------------------------------------------------- users
def test_a_scripted_user_says_all_at_once_and_leaves(environment: AcebenchEnvironment) -> None:
    task = task_of(environment, "agent_multi_turn_0")
    rollout = play(environment, task, reference)
    assert (rollout.trajectory.stop, len(rollout.trajectory.turns)) == ("completed", 1)
    assert environment.user(task_of(environment, "agent_multi_step_0")) is None


def guided(body: dict[str, Any]) -> str:
    """A user that needs to be asked before it says what to write."""
    last = body["messages"][-1]["content"]
    if "?" in last and "what" in last:
        return "Write: Lunch?"
    return "finish conversation" if "sent" in last else "A message to Bob, please."


def spoken(*messages: str | ToolCall) -> Any:
    said = [
        AssistantMessage(content=m) if isinstance(m, str) else AssistantMessage(calls=(m,))
        for m in messages
    ]
    return script(*said)


def test_a_model_as_user_is_asked_turn_by_turn(clone: Path) -> None:
    with ModelServer(guided) as server:
        environment = made(clone, user="openai/tiny", user_url=server.url)
        task = task_of(environment, "agent_multi_turn_0")
        rollout = play(environment, task, spoken("Hm, what?", LUNCH, "It is sent."))
    assert (rollout.trajectory.stop, len(rollout.trajectory.turns)) == ("completed", 2)
    assert rollout.reward is not None
    assert rollout.reward.solved
    first, *_, last = server.requests
    assert first["messages"][0]["content"] == "You want: You want to tell Bob: Lunch?"
    assert [m["role"] for m in last["messages"]] == ["system", *["user", "assistant"] * 2, "user"]
    assert "openai/tiny" in environment.protocol()


def test_a_user_that_never_ends_is_cut(clone: Path) -> None:
    with ModelServer(lambda body: "And then?") as server:
        environment = made(clone, user="openai/tiny", user_url=server.url)
        task = task_of(environment, "agent_multi_turn_0")
        rollout = play(environment, task, spoken(*["Well."] * 40))
    assert (rollout.trajectory.stop, len(rollout.trajectory.turns)) == ("max_steps", 30)
    assert rollout.reward is not None
    assert not rollout.reward.solved


@pytest.mark.parametrize("fail_after", [0, 1])
def test_a_user_that_fails_is_an_outage_and_no_zero(clone: Path, fail_after: int) -> None:
    with ModelServer(guided) as server:
        environment = made(clone, user="openai/tiny", user_url=server.url)
        task = task_of(environment, "agent_multi_turn_0")
        server.fail_with = 0 if fail_after else 400

        def agent(_: Task) -> Any:
            server.fail_with = 400
            yield AssistantMessage(content="Hm, what?")

        rollout = play(environment, task, agent)
    assert (rollout.trajectory.stop, rollout.reward) == ("error", None)
    assert "does not answer" in str(rollout.trajectory.error)


@pytest.mark.parametrize("user", ["tiny", "openai/", ""])
def test_a_user_that_is_none_is_refused(user: str) -> None:
    with pytest.raises(ValidationError, match="a user is 'scripted' or openai/NAME"):
        AcebenchEnvironment.Config(user=user)


# ------------------------------------------------------------------------------- command line
def test_a_served_model_is_evaluated(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def policy(body: dict[str, Any]) -> str | dict[str, Any]:
        if body["messages"][-1]["role"] == "tool":
            return "Done."
        arguments = json.dumps({"to": "Bob", "text": "Lunch?"})
        function = {"name": "send_message", "arguments": arguments}
        return {"tool_calls": [{"id": "a", "type": "function", "function": function}]}

    with ModelServer(policy) as server:
        command = ["rods", "eval", "--plugins", "acebench", "--policy", "openai/tiny", "--json"]
        where = ["-o", f"environment.path={clone}", "--lm-url", server.url, "-k", "1"]
        monkeypatch.setattr(sys, "argv", [*command, *where])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    report = json.loads(capsys.readouterr().out)
    assert (report["n"], report["solved"]) == (6, pytest.approx(1 / 6))
    assert set(report["sets"]) == {"multi_step", "multi_turn", "defect"}
