"""Questions and the conversations before them: BFCL's entries as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rods.types import JsonObject, Task, Turn
from rods_bfcl.asset import Asset
from rods_bfcl.memory.backends import EMPTY, PROMPTS, Backend, source_of

DATA = "bfcl_eval/data"
QUESTIONS = f"{DATA}/BFCL_v4_memory.json"
ANSWERS = f"{DATA}/possible_answer/BFCL_v4_memory.json"
SCENARIOS = ("customer", "healthcare", "finance", "student", "notetaker")


def conversations_file(scenario: str) -> str:
    """Where the conversations of a scenario stand."""
    return f"{DATA}/memory_prereq_conversation/memory_{scenario}.json"


def documents_file(backend: Backend) -> str:
    """Where the functions of a backend are described."""
    return f"{DATA}/multi_turn_func_doc/memory_{backend}.json"


def members(backends: Sequence[Backend]) -> list[str]:
    """Every file of the release that these backends' tasks are made of."""
    files = [QUESTIONS, ANSWERS, PROMPTS, *map(conversations_file, SCENARIOS)]
    return files + [file(b) for b in backends for file in (documents_file, source_of)]


def read_questions(asset: Asset, backend: Backend, tools: Sequence[str]) -> list[Task]:
    """The 155 questions in upstream's order; the memory is empty until conversations fill it."""
    answers = {str(a["id"]): a["ground_truth"] for a in asset.lines(ANSWERS)}
    entries: Sequence[Mapping[str, Any]] = asset.lines(QUESTIONS)
    return [_question(e, answers[str(e["id"])], backend, tools) for e in entries]


def read_conversations(
    asset: Asset, backend: Backend, scenario: str, tools: Sequence[str]
) -> list[Task]:
    """The conversations of a scenario, in the order in which they fill the memory."""
    entries: Sequence[Mapping[str, Any]] = asset.lines(conversations_file(scenario))
    return [_task(entry, backend, tools, answers=()) for entry in entries]


def with_memory(task: Task, memory: JsonObject) -> Task:
    """The same task over another memory."""
    return task.model_copy(update={"initial_state": {**task.initial_state, "memory": memory}})


def _question(entry: Mapping[str, Any], answers: Any, backend: Backend, tools: Any) -> Task:
    return _task(entry, backend, tools, answers=[str(answer) for answer in answers])


def _task(
    entry: Mapping[str, Any], backend: Backend, tools: Sequence[str], answers: Sequence[str]
) -> Task:
    state: JsonObject = {
        "backend": backend,
        "scenario": entry["scenario"],
        "memory": EMPTY[backend],
        "answers": list(answers),
    }
    return Task(
        id=str(entry["id"]).replace("memory", f"memory_{backend}", 1),
        environment="bfcl",
        split="eval",
        tools=tuple(tools),
        turns=tuple(_turns(entry, answers)),
        initial_state=state,
        flags=(f"memory_{backend}", str(entry["scenario"])),
    )


def _turns(entry: Mapping[str, Any], answers: Sequence[str]) -> Iterator[Turn]:
    for messages in entry["question"]:
        user = "\n".join(message["content"] for message in messages)
        yield Turn(user=user, answer=answers[0] if answers else "")
