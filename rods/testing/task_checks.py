"""Checks of the tasks and tools as data: nothing is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match

from rods.faults import no_such_tool
from rods.testing.findings import DEFECT, FLAG_IT, IDLE, Finding, Subject, for_each, no_reference
from rods.testing.split_checks import only_in_eval, some
from rods.types import JsonValue, Task, ToolCall, ToolSpec


def tasks_are_well_formed(subject: Subject) -> str:
    """Every task names this environment, its split and known tools, and has something to judge."""
    if not subject.all_tasks:
        raise Finding("Both splits are empty.", "return the seed tasks from Environment.tasks")
    ids = subject.ids
    for_each(subject.all_tasks, lambda task: _malformed(subject, task, ids[task.split]))
    kinds = Counter(f"{split} {t.kind}" for split, ts in subject.tasks.items() for t in ts)
    return ", ".join(f"{n} {kind}" for kind, n in kinds.items())


def _malformed(subject: Subject, task: Task, ids: frozenset[str]) -> str | None:
    if task.environment != subject.environment.name:
        return f"environment is {task.environment!r}, not {subject.environment.name!r}"
    if task.id not in ids:
        return f"split is {task.split!r}, but it was given out by the other"
    if unknown := unknown_tool(task, subject.specs):
        return unknown
    if IDLE in task.flags:
        return f"is flagged {IDLE!r} and stands in train" if task.split == "train" else None
    if DEFECT not in task.flags and not any(t.reference or t.answer for t in task.turns):
        return "no turn has a reference or an answer, so nothing can be judged"
    return None


def unknown_tool(task: Task, specs: Mapping[str, ToolSpec]) -> str:
    """What is wrong with the tools that the task offers; empty: there are all of them."""
    names = (name for name in task.tools_at(len(task.turns)) if name not in specs)
    return next((f"in its tools, {no_such_tool(name, specs)}" for name in names), "")


def tasks_keep_their_order(subject: Subject) -> str:
    """Asked again, ``tasks`` gives equal tasks in the same order."""
    for split, tasks in subject.tasks.items():
        if list(subject.environment.tasks(split)) != list(tasks):
            raise Finding(
                f"tasks({split!r}) differs when asked twice.", "sort, and seed any random"
            )
    return f"{len(subject.all_tasks)} tasks"


def tasks_survive_json(subject: Subject) -> str:
    """A task written as JSON and read again is equal."""

    def differs(task: Task) -> str | None:
        again = Task.model_validate_json(task.model_dump_json())
        return None if again == task else "differs after a JSON round trip"

    return for_each(subject.all_tasks, differs)


def tool_schemas_are_valid(subject: Subject) -> str:
    """Every tool's parameters are a JSON Schema (2020-12) of type object, under its own name."""
    for name, spec in subject.specs.items():
        problem = _schema_problem(name, spec)
        if problem:
            raise Finding(f"The tool {name!r} {problem}.")
    return f"{len(subject.specs)} tools"


def _schema_problem(name: str, spec: ToolSpec) -> str | None:
    if name != spec.name:
        return f"calls itself {spec.name!r}"
    if not spec.description.strip():
        return "has no description"
    if spec.parameters.get("type") != "object":
        return f"has parameters of type {spec.parameters.get('type')!r}, not 'object'"
    try:
        Draft202012Validator.check_schema(spec.parameters)
    except SchemaError as error:
        return f"has an invalid schema at {error.json_path}: {error.message[:200]}"
    missing = [n for n in spec.required if n not in spec.properties]
    return f"requires {', '.join(missing)}, which it does not describe" if missing else None


def reference_fits_the_schemas(subject: Subject) -> str:
    """The reference calls only tools handed over by then, with arguments that fit their schemas."""
    if skipped := no_reference(subject.all_tasks):
        return skipped
    validators = {n: Draft202012Validator(s.parameters) for n, s in subject.specs.items()}
    calls = 0

    def misfit(task: Task) -> str | None:
        nonlocal calls
        for index, turn in enumerate(task.turns):
            visible = set(task.tools_at(index))
            for call in turn.reference:
                calls += 1
                problem = _call_problem(call, visible, subject.specs, validators)
                if problem:
                    return f"turn {index}, {call.name}: {problem}"
        return None

    count = for_each(subject.all_tasks, misfit, FLAG_IT, excuse=True)
    return f"{calls} calls of {count}"


def _call_problem(
    call: ToolCall, visible: set[str], specs: Any, validators: dict[str, Draft202012Validator]
) -> str | None:
    if call.name not in specs:
        return no_such_tool(call.name, specs)
    if call.name not in visible:
        return "the tool is not handed over yet"
    strange = [n for n in call.arguments if n not in specs[call.name].properties]
    if strange:
        return f"no parameter {strange[0]!r}"
    error = best_match(validators[call.name].iter_errors(call.arguments))
    return None if error is None else f"{error.json_path}: {error.message[:200]}"


def suggestions_fit_the_schemas(subject: Subject) -> str:
    """Every value that ``suggest`` offers for a parameter fits the parameter's schema.

    Values of eval alone that train tasks are offered are told: variants would train on them.
    """
    seen: set[tuple[str, str, str]] = set()
    held_out, given_away = only_in_eval(subject), dict[str, None]()
    last: dict[tuple[str, str], Sequence[JsonValue]] = {}  # most worlds offer the same each time
    for task in subject.sample:
        for name in task.tools_at(len(task.turns)):
            for parameter, schema in subject.specs[name].properties.items():
                fits = Draft202012Validator(schema).is_valid
                values = subject.environment.suggest(name, parameter, task.initial_state)
                if task.split == "train":
                    given_away |= {v: None for v in values if isinstance(v, str) and v in held_out}
                if last.get((name, parameter)) == values:
                    continue
                last[name, parameter] = values
                for value in values:
                    key = (name, parameter, repr(value))
                    if key not in seen and not fits(value):
                        raise Finding(f"suggest({name!r}, {parameter!r}) offers {value!r:.80}.")
                    seen.add(key)
    told = f"; {len(given_away)} stand in tasks of eval alone: {some(list(given_away))}"
    return (f"{len(seen)} values" if seen else "none offered") + told * bool(given_away)


def hashes_are_sha256(subject: Subject) -> str:
    """``data_hashes`` names SHA-256 digests, so that a score can be traced to its data."""
    hashes = subject.environment.data_hashes()
    for source, digest in hashes.items():
        if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            raise Finding(f"The hash of {source!r} is {digest!r:.80}, not 64 hex digits.")
    return f"{len(hashes)} sources" if hashes else "none: nothing is read"
