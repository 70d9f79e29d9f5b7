"""Whatever a model writes is a failed call at worst: nothing runs, hangs or crashes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rods_bfcl.environment import BfclEnvironment

from rods.types import Task, ToolCall

# Runs hostile recordings under an audit hook that records every event of interest. Reading a call
# raises the event "compile" too, but with the flag that asks for the syntax tree alone; the first
# use of lazily imported parts is over before the hook is set.
_AUDIT = """
import ast, json, sys
from pathlib import Path
from rods_bfcl.environment import BfclEnvironment
asset, cases = sys.argv[1], json.loads(sys.stdin.read())
environment = BfclEnvironment(BfclEnvironment.Config(asset=Path(asset)))
for case in cases:
    environment.score_recording({**case, "trajectory": []})
environment.score_recording({"task_id": cases[0]["task_id"], "trajectory": [[["ls()"]]]})
seen = []
def hook(event, arguments):
    if event in ("exec", "import", "open", "os.system", "subprocess.Popen", "os.posix_spawn",
                 "os.exec", "os.fork", "os.remove", "socket.connect", "ctypes.dlopen"):
        seen.append([event, repr(arguments)[:200]])
    if event == "compile":
        seen.append([event, sys._getframe(1).f_code.co_name])
sys.addaudithook(hook)
verdicts = [environment.score_recording(case)["valid"] for case in cases]
allowed = [["compile", "parse"]]
print(json.dumps({"verdicts": verdicts, "seen": [e for e in seen if e not in allowed]}))
"""


def test_hostile_recordings_run_import_open_and_start_nothing(
    cases: list[dict[str, Any]], environment: BfclEnvironment, asset: Any
) -> None:
    hostile = [c for c in cases if c["official_valid"] is None]
    wanted = [{k: c[k] for k in ("task_id", "trajectory")} for c in hostile]
    done = subprocess.run(
        [sys.executable, "-c", _AUDIT, asset.origin],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    report = json.loads(done.stdout)
    assert report["seen"] == []
    assert report["verdicts"] == [c["expected_valid"] for c in hostile]


_ARGUMENT = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**320), 10**320)
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from(["..", ".", "/", "a/b", "%s", "{0.__class__}", "x" * 70_000, "USR001"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def everything() -> Task:
    """A long world with all eight classes."""
    return Task(
        id="everything",
        environment="bfcl",
        tools=(),
        turns=(),
        initial_state={
            "classes": [
                *("GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI", "TicketAPI"),
                *("TradingBot", "TravelAPI", "VehicleControlAPI"),
            ],
            "config": {
                "TwitterAPI": {"authenticated": True},
                "TradingBot": {"authenticated": True, "market_status": "Open"},
                "TicketAPI": {"current_user": "me"},
                "MessageAPI": {"current_user": "USR001"},
            },
            "long_context": True,
        },
    )


@settings(max_examples=100)
@given(data=st.data())
def test_any_json_arguments_give_a_result_at_once(
    environment: BfclEnvironment, everything: Task, data: st.DataObject
) -> None:
    specs = environment.tools()
    session = environment.open(everything)
    for _ in range(3):
        name = data.draw(st.sampled_from(sorted(specs)))
        names = [*specs[name].properties, *data.draw(st.sampled_from([[], ["surprise"]]))]
        arguments = {parameter: data.draw(_ARGUMENT) for parameter in names}
        start = time.perf_counter()
        result = session.call(ToolCall.model_construct(name=name, arguments=arguments))
        assert time.perf_counter() - start < 2
        assert isinstance(result.content, str)
    session.restore(session.snapshot())
    assert json.dumps(session.state())


@given(
    st.sampled_from(
        [
            *("eval('1')", "exec('1')", "open('x')", "print(1)", "__import__('os')", "globals()"),
            *("cd.__class__", "cd.__globals__['x']", "(lambda: 1)()", "[].append(1)", "{}[0]"),
            *("_generate_id()", "_load_scenario({})", "cat(cat('x'))", "a" * 5000, "cd(cd)"),
        ]
    ),
    st.sampled_from(["{}", "ls(a={})", "cd(folder=[{}])", "{}; {}", "echo(content=f'{{{}}}')"]),
)
def test_expressions_around_calls_are_failed_calls(
    environment: BfclEnvironment, payload: str, frame: str
) -> None:
    text = frame.replace("{}", payload).replace("{{", "{").replace("}}", "}")
    task_id = "multi_turn_base_0"
    verdict = environment.score_recording({"task_id": task_id, "trajectory": [[[text]]]})
    assert (
        verdict["state_ok"]
        == environment.score_recording({"task_id": task_id, "trajectory": []})["state_ok"]
    )
    assert verdict["valid"] is False


def test_the_code_never_evaluates_text() -> None:
    """The only compile() is that of the pinned sources."""
    package = Path(sys.modules[BfclEnvironment.__module__].__file__ or "").parent
    for path in package.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert " eval(" not in text, path
        assert path.name == "upstream.py" or " exec(" not in text, path
