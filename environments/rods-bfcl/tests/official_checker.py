"""The official checker behind a pipe: judges recordings that the tests made, each in its own fork.

Run as a script: the first argument is the wheel, every line on stdin a recording, every line on
stdout its verdict. The official executor evaluates the call strings, so it is only ever given calls
that were rendered from literal arguments, and it lives in this process alone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

PACKAGE = "bfcl_eval.eval_checker.multi_turn_eval"


def main() -> None:
    """Answer every recording on stdin; the first line holds the entries and answers."""
    sys.path.insert(0, sys.argv[1])
    entries, answers = json.loads(sys.stdin.readline())
    checker = __import__(f"{PACKAGE}.multi_turn_checker", fromlist=["_"])
    utils = __import__(f"{PACKAGE}.multi_turn_utils", fromlist=["_"])
    backend = __import__("bfcl_eval.constants.executable_backend_config", fromlist=["_"])
    for name in {name for entry in entries.values() for name in entry["involved_classes"]}:
        __import__(backend.CLASS_FILE_PATH_MAPPING[name])  # once, not in every fork
    for line in sys.stdin:
        recording = json.loads(line)
        task_id = recording["task_id"]
        judge = partial(
            verdict, checker, utils, entries[task_id], answers[task_id], recording["trajectory"]
        )
        sys.stdout.write(in_fork(judge) + "\n")
        sys.stdout.flush()


def in_fork(judge: Callable[[], dict[str, Any]]) -> str:
    """The JSON of what ``judge`` returns in a forked process, whose end ends upstream's leaks."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        with os.fdopen(send, "w") as pipe:
            json.dump(judge(), pipe)
            pipe.flush()
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def verdict(checker: Any, utils: Any, entry: Any, answer: Any, trajectory: Any) -> dict[str, Any]:
    """The official verdict, and the official checks of every turn without stopping."""
    turns = [[s for s in turn if s and s != [""]] for turn in trajectory]
    official = {"valid": False, "error_type": "multi_turn:force_terminated"}
    if len(turns) == len(answer):
        category = entry["id"].rsplit("_", 1)[0]
        official = checker.multi_turn_checker(turns, answer, entry, category, "whole")
    return {
        "valid": official["valid"],
        "error": official.get("error_type"),
        **per_turn(checker, utils, entry, answer, turns),
    }


def per_turn(checker: Any, utils: Any, entry: Any, answer: Any, turns: Any) -> dict[str, Any]:
    """``state_ok`` and ``response_ok`` after every turn of the task."""

    def run(calls: list[str], name: str) -> Any:
        return utils.execute_multi_turn_func_call(
            func_call_list=calls,
            initial_config=entry["initial_config"],
            involved_classes=entry["involved_classes"],
            model_name=name,
            test_entry_id=entry["id"],
            long_context="long_context" in entry["id"],
            is_evaL_run=True,
        )

    state_ok, response_ok, seen = [], [], []
    for index, calls in enumerate(answer):
        _, model = run([], "turns")
        for step in turns[index] if index < len(turns) else []:
            results, model = run(step, "turns")
            seen += results
        wanted, reference = run(calls, "turns_ground_truth")
        state_ok.append(checker.state_checker(model, reference)["valid"])
        found = checker.response_checker(seen, wanted, index)["valid"]
        response_ok.append(found if calls else None)
    return {"state_ok": state_ok, "response_ok": response_ok}


if __name__ == "__main__":
    main()
