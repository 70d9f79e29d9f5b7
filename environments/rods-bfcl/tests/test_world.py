"""Sessions: official results, no leaks, states that are equal exactly when upstream says so."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from rods_bfcl.effects import HIDDEN_WRITES, READS
from rods_bfcl.environment import BfclEnvironment
from rods_bfcl.session import BfclSession

from rods.errors import DataError
from rods.types import Task, ToolCall, ToolResult


def _call(session: BfclSession, tool: str, **arguments: Any) -> ToolResult:
    return session.call(ToolCall(name=tool, arguments=arguments))


def _scenario(*classes: str, long_context: bool = False, **config: Any) -> Task:
    return Task(
        id="made",
        environment="bfcl",
        tools=(),
        turns=(),
        initial_state={
            "classes": list(classes),
            "config": config,
            "long_context": long_context,
        },
    )


_FILES = {
    "root": {
        "home": {
            "type": "directory",
            "contents": {
                "a": {"type": "directory", "contents": {"f": {"type": "file", "content": "x"}}},
                "b": {"type": "directory", "contents": {}},
                "g": {"type": "file", "content": "y"},
            },
        }
    }
}


@pytest.fixture
def files(environment: BfclEnvironment) -> BfclSession:
    return environment.open(_scenario("GorillaFileSystem", GorillaFileSystem=_FILES))


# ---------------------------------------------------------------------- results
def test_results_are_written_as_upstream_writes_them(files: BfclSession) -> None:
    assert _call(files, "ls").content == '{"current_directory_content": ["a", "b", "g"]}'
    assert _call(files, "touch", file_name="h").content == "None"
    unknown = _call(files, "touch", name="h")
    assert unknown.error
    assert unknown.content.startswith("Error during execution: ")
    missing = _call(files, "cat", file_name="z")
    assert missing == ToolResult(
        content='{"error": "cat: \'z\': No such file or directory"}', error=True
    )


def test_functions_of_other_classes_do_not_exist(files: BfclSession) -> None:
    assert _call(files, "add", a=1, b=2).content == (
        "Error during execution: name 'add' is not defined"
    )
    assert _call(files, "__init__").error
    assert _call(files, "_get_item", item_name="a").error


def test_a_state_that_is_no_scenario_is_refused(environment: BfclEnvironment) -> None:
    task = _scenario().model_copy(update={"initial_state": {"files": {}}})
    with pytest.raises(DataError, match="'classes', 'config' and 'long_context'; this one has"):
        environment.open(task)


def test_a_class_that_does_not_exist_is_refused(environment: BfclEnvironment) -> None:
    with pytest.raises(DataError, match="no class 'TaxiAPI'"):
        environment.open(_scenario("TaxiAPI"))


def test_a_configuration_that_upstream_cannot_read_is_no_fault_of_the_policy(
    environment: BfclEnvironment,
) -> None:
    session = environment.open(_scenario("GorillaFileSystem", GorillaFileSystem={"root": {}}))
    with pytest.raises(DataError, match="configuration of GorillaFileSystem"):
        _call(session, "ls")


def test_an_environment_can_be_pickled_and_copied(environment: BfclEnvironment) -> None:
    assert environment.tasks("eval")
    again = pickle.loads(pickle.dumps(environment))
    assert again.config == environment.config
    assert copy.deepcopy(environment).tasks("train") == environment.tasks("train")


def test_the_clock_and_the_sets_are_fixed(environment: BfclEnvironment) -> None:
    session = environment.open(
        _scenario(
            "TravelAPI",
            TravelAPI={
                "user_first_name": "A",
                "user_last_name": "B",
                "credit_card_list": {"c": {"balance": 9}},
                "access_token": "t",
                "token_expires_in": 2,
            },
        )
    )
    traveler = {"first_name": "A", "last_name": "B", "passport_number": "US1"}
    of_age = _call(session, "verify_traveler_information", date_of_birth="2008-03-23", **traveler)
    under = _call(session, "verify_traveler_information", date_of_birth="2008-03-24", **traveler)
    assert (of_age.content, "18" in under.content) == ('{"verification_status": true}', True)
    flight = {"travel_date": "2026-10-10", "travel_from": "SFO", "travel_to": "LAX"}
    booked = _call(
        session, "book_flight", access_token="t", card_id="c", travel_class="x", **flight
    )
    assert "{'business', 'economy', 'first'}" in booked.content


# ---------------------------------------------------------------------- isolation
def test_the_initial_state_and_the_arguments_are_never_changed(
    environment: BfclEnvironment, tasks: dict[str, Task]
) -> None:
    for name in ("multi_turn_base_156", "multi_turn_base_60", "multi_turn_long_context_110"):
        task = tasks[name]
        before = task.model_dump_json()
        session = environment.open(task)
        for turn in task.turns:
            for call in turn.reference:
                session.call(call)
        session.state()["classes"] = ["changed"]
        assert task.model_dump_json() == before


def test_lists_given_to_a_call_stay_the_callers(environment: BfclEnvironment) -> None:
    session = environment.open(_scenario("TwitterAPI", TwitterAPI={"authenticated": True}))
    post = ToolCall(name="post_tweet", arguments={"content": "x", "mentions": ["@a"]})
    session.call(post)
    _call(session, "mention", tweet_id=0, mentioned_usernames=["@b"])
    assert post.arguments["mentions"] == ["@a"]


def test_default_mentions_do_not_reach_the_next_tweet(environment: BfclEnvironment) -> None:
    task = _scenario("TwitterAPI", TwitterAPI={"authenticated": True})
    first = environment.open(task)
    _call(first, "post_tweet", content="x")
    _call(first, "mention", tweet_id=0, mentioned_usernames=["@evil"])
    for session in (first, environment.open(task)):
        assert '"mentions": []' in _call(session, "post_tweet", content="y").content


def test_shared_tables_of_long_worlds_are_not_changed(environment: BfclEnvironment) -> None:
    task = _scenario(
        "TravelAPI",
        "VehicleControlAPI",
        long_context=True,
        TravelAPI={"access_token": "t", "token_expires_in": 2},
    )
    fresh = environment.open(task).state()
    session = environment.open(task)
    bookings = session.state()["TravelAPI"]["booking_record"]  # type: ignore[index,call-overload]
    for booking in bookings:  # type: ignore[union-attr]
        assert not _call(session, "cancel_booking", access_token="t", booking_id=booking).error
    warm = _call(session, "get_outside_temperature_from_google").content
    assert environment.open(task).state() == fresh
    again = environment.open(task)
    assert _call(again, "get_outside_temperature_from_google").content == warm


def test_precisions_do_not_leak(environment: BfclEnvironment) -> None:
    session = environment.open(_scenario("MathAPI"))
    before = mpmath.mp.dps
    short = _call(session, "logarithm", value=2, base=10, precision=5)
    assert short.content == "{'result': mpf('0.30102968')}"
    _call(session, "square_root", number=2, precision=40)
    assert mpmath.mp.dps == before
    long = _call(session, "square_root", number=2, precision=5)
    assert long.content == "{'result': Decimal('1.4142')}"


# ---------------------------------------------------------------------- effects
def test_reads_change_nothing(environment: BfclEnvironment, tasks: dict[str, Task]) -> None:
    """Functions marked as reads leave state, working directory and generators as they were."""
    used = set()
    for task in tasks.values():
        session = environment.open(task)
        for call in (call for turn in task.turns for call in turn.reference):
            if call.name in READS | HIDDEN_WRITES and call.name not in used:
                used.add(call.name)
                before = session.state()
                session.call(call)
                assert session.state() == before, call.name
            else:
                session.call(call)
    assert len(used & READS) > 35


def test_every_function_that_no_reference_uses_keeps_its_effect(
    environment: BfclEnvironment,
) -> None:
    """The rest of the reads, with arguments that reach their end."""
    arguments: dict[str, Any] = {
        "string": "Alice",
        "number": 2,
        "integer": 0,
        "boolean": True,
        "array": [2, 3],
        "object": {},
    }
    specs = environment.tools()
    names = ("GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI", "TicketAPI")
    task = _scenario(*names, "TradingBot", "TravelAPI", "VehicleControlAPI")
    for name in READS:
        session = environment.open(task)
        before = session.state()
        schema = specs[name].properties
        _call(session, name, **{p: arguments[schema[p]["type"]] for p in specs[name].required})
        assert session.state() == before, name
        assert specs[name].effect == "read"


# ---------------------------------------------------------------------- states
def test_states_are_equal_when_upstream_calls_them_equal(environment: BfclEnvironment) -> None:
    task = _scenario("GorillaFileSystem", "TradingBot", GorillaFileSystem=_FILES)
    one, two = environment.open(task), environment.open(task)
    _call(one, "cd", folder="a")  # the working directory is private
    assert one.state() == two.state()
    _call(two, "mv", source="g", destination="h")
    assert one.state() != two.state()
    _call(two, "mv", source="h", destination="g")  # the order of entries does not matter
    assert one.state() == two.state()


def test_numbers_compare_as_python_compares_them(environment: BfclEnvironment) -> None:
    task = _scenario("TradingBot", TradingBot={"authenticated": True})
    one, two = environment.open(task), environment.open(task)
    _call(one, "fund_account", amount=5)
    _call(two, "fund_account", amount=5.0)
    assert one.state() == two.state()


def test_a_numbered_key_is_not_the_same_text(environment: BfclEnvironment) -> None:
    """Upstream keeps comments of the configuration by text and new ones by number."""
    tweet = {"id": 0, "username": "u", "content": "", "tags": [], "mentions": []}
    config = {"authenticated": True, "tweets": {"0": tweet}, "comments": {"0": []}}
    session = environment.open(_scenario("TwitterAPI", TwitterAPI=config))
    _call(session, "comment", tweet_id=0, comment_content="c")
    twitter: Any = session.state()["TwitterAPI"]
    assert set(twitter["comments"]) == {"'0'", "0"}
    assert set(twitter["tweets"]) == {"0"}


# ---------------------------------------------------------------------- snapshots
@pytest.mark.parametrize("kind", ["base", "long_context"])
def test_a_snapshot_brings_the_whole_world_back(
    environment: BfclEnvironment, tasks: dict[str, Task], kind: str
) -> None:
    """Generators and working directory included; a snapshot can be restored again and again."""
    for task in [t for t in tasks.values() if t.kind == kind][::9]:
        session = environment.open(task)
        calls = [call for turn in task.turns for call in turn.reference]
        for cut in range(len(calls) + 1):
            snapshot = session.snapshot()
            rest = [session.call(call) for call in calls[cut:]]
            end = session.state()
            for _ in range(2):
                session.restore(snapshot)
                assert [session.call(call) for call in calls[cut:]] == rest, task.id
                assert session.state() == end
            session.restore(snapshot)
            if cut < len(calls):
                session.call(calls[cut])


def test_a_snapshot_keeps_directories_that_upstream_shares(files: BfclSession) -> None:
    """cp shares subdirectories: what is written through one path shows on the other."""
    _call(files, "mv", source="b", destination="a")
    _call(files, "cp", source="a", destination="c")
    files.restore(files.snapshot())
    for folder in ("a", "b"):
        assert not _call(files, "cd", folder=folder).error
    _call(files, "touch", file_name="shared")
    _call(files, "cd", folder="/")
    _call(files, "cd", folder="c")
    assert "c/b/shared" in _call(files, "find", path="/c").content or (
        "b/shared" in _call(files, "find", path=".").content
    )


# ---------------------------------------------------------------------- bounds
def test_an_endless_directory_is_a_failed_call(files: BfclSession) -> None:
    """Upstream copies a directory into itself by reference; every search would be endless."""
    assert _call(files, "cp", source="a", destination="a").error
    for tool in ("find", "du", "ls", "pwd"):
        _call(files, tool)
    assert files.state()["GorillaFileSystem"]["root"].keys() == {"<endless>"}  # type: ignore[index,union-attr,call-overload]


def test_directories_that_double_end_as_a_failed_call(files: BfclSession) -> None:
    failed = False
    for level in range(40):
        _call(files, "mkdir", dir_name=f"d{level}")
        for twin in ("x", "y"):
            failed |= _call(files, "cp", source="a", destination=twin).error
            failed |= _call(files, "mv", source=twin, destination=f"d{level}").error
        _call(files, "mv", source="a", destination=f"old{level}")
        _call(files, "mv", source=f"d{level}", destination="a")
        if failed:
            break
    assert failed
    assert not _call(files, "find").error


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("power", {"base": 9, "exponent": 999_999_999}),
        ("power", {"base": 10**300, "exponent": 10**300}),
        ("logarithm", {"value": 3.0, "base": 2.0, "precision": 10**8}),
        ("logarithm", {"value": 3.0, "base": 2.0, "precision": "100000000"}),
        ("square_root", {"number": 2, "precision": 10**9}),
        ("round_number", {"number": 5, "decimal_places": -(10**9)}),
        ("add", {"a": 10**4000, "b": 1}),
        ("mean", {"numbers": [1] * 100_000}),
        ("add", {"a": "x" * 1_000_000, "b": "y"}),
    ],
)
def test_gigantic_arguments_are_failed_calls(
    environment: BfclEnvironment, tool: str, arguments: dict[str, Any]
) -> None:
    session = environment.open(_scenario("MathAPI"))
    call = ToolCall.model_construct(name=tool, arguments=arguments)
    assert session.call(call).error


def test_ordinary_powers_and_precisions_work(environment: BfclEnvironment) -> None:
    session = environment.open(_scenario("MathAPI"))
    assert _call(session, "power", base=2, exponent=100).content == f'{{"result": {2**100}}}'
    assert not _call(session, "logarithm", value=8, base=2, precision=200).error
    assert _call(session, "round_number", number=1234, decimal_places=-2).content == (
        '{"result": 1200}'
    )
