"""Upstream's memory classes, executor and answer check behind a pipe.

Run as a script: the first argument is the wheel, the second a folder for its snapshots; every line
on stdin is ``[function, arguments]``, every line on stdout the result. The official executor
evaluates the call strings, so it is only ever given calls rendered from literal arguments.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile


def main() -> None:
    """Answer every line."""
    wheel, folder = sys.argv[1:]
    sys.path.insert(0, wheel)
    _stand_in("overrides", final=lambda function: function)
    _stand_in(  # the real module makes folders when it is imported
        "bfcl_eval.utils",
        get_directory_structure_by_id=lambda test_id: test_id.split("_")[1],
        is_first_memory_prereq_entry=lambda i: "prereq" in i and i.endswith("-0"),
        is_memory_prereq=lambda i: "prereq" in i,
    )
    functions = {"play": Player(wheel, Path(folder)).play, "check": _checker()}
    for line in sys.stdin:
        name, arguments = json.loads(line)
        sys.stdout.write(json.dumps(functions[name](*arguments)) + "\n")
        sys.stdout.flush()


def _stand_in(name: str, **names: Any) -> None:
    module = ModuleType(name)
    vars(module).update(names)
    sys.modules[name] = module


def _checker() -> Any:
    checker = __import__("bfcl_eval.eval_checker.agentic_eval.agentic_checker", fromlist=["_"])
    return lambda answer, accepted: checker.agentic_checker(answer, accepted)["valid"]


class Player:
    """Plays an entry: what the model is told first, the results, and the memory afterwards."""

    def __init__(self, wheel: str, folder: Path) -> None:
        self.folder = folder
        package = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"
        self.execute = __import__(package, fromlist=["_"]).execute_multi_turn_func_call
        self.instructed = _instructed(wheel)

    def play(self, test_id: str, backend: str, scenario: str, calls: list[str]) -> Any:
        name = f"MemoryAPI_{backend}"
        config = {"model_result_dir": self.folder, "scenario": scenario, "test_id": test_id}

        def run(texts: list[str]) -> Any:
            return self.execute(texts, {name: config}, [name], "model", test_id)

        _, instances = run([])
        prompts = [[{"role": "user", "content": "?"}]]
        category = test_id.rsplit("_", 1)[0]
        told = self.instructed(prompts, category, scenario, instances[name])[0][0]["content"]
        results, instances = run(calls)
        if "prereq" in test_id:
            instances[name]._flush_memory_to_local_file()
        names = ("memory",) if backend == "rec_sum" else ("core_memory", "archival_memory")
        return told, results, {n: getattr(instances[name], n) for n in names}


def _instructed(wheel: str) -> Any:
    """One function of a module that imports every client of model servers."""
    with ZipFile(wheel) as archive:
        tree = ast.parse(archive.read("bfcl_eval/model_handler/utils.py"))
    wanted = "add_memory_instruction_system_prompt"
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == wanted]
    names = dict(vars(__import__("bfcl_eval.constants.default_prompts", fromlist=["_"])))
    exec(compile(ast.Module(found, []), wheel, "exec"), names)
    return names[wanted]


if __name__ == "__main__":
    main()
