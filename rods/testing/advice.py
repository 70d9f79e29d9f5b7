"""What mends a world in which a check fails, where the check itself cannot say it better."""

from __future__ import annotations

from collections.abc import Mapping

ADVICE: Mapping[str, str] = {  # name of the check -> what to do
    "tasks_are_well_formed": "mend the tasks: name, split, tools that exist, a reference",
    "tasks_keep_their_order": "sort, and seed any random with a fixed text",
    "splits_are_disjoint": "give every task an id of its own, and eval tasks of its own",
    "tasks_survive_json": "use plain JSON in arguments and states: texts as keys, lists, no tuples",
    "tool_schemas_are_valid": "mend ToolSpec.parameters: a JSON Schema of type object",
    "reference_fits_the_schemas": "mend the reference or the schema: one of them is wrong",
    "suggestions_fit_the_schemas": "offer in suggest() only what the tool's schema allows",
    "hashes_are_sha256": "return hashlib.sha256(content).hexdigest() for each source",
    "capabilities_are_declared": "set snapshots and determinism in the class",
    "reference_runs_without_errors": "mend the reference; each of its calls must succeed",
    "runs_repeat": "freeze clocks, seed random (rods.determinism), copy what is shared",
    "another_day_changes_nothing": "take times and random numbers from rods.determinism",
    "opening_resets": "deep-copy initial_state in open()",
    "states_are_json_copies": "return a deep copy from state(), with texts as keys and no NaN",
    "snapshots_restore": "deep-copy in snapshot() and in restore(), counters and clocks too",
    "sessions_are_isolated": "keep state in the session: no globals, no class attributes, no files",
    "closing_twice_is_safe": "let close() return at once where it has closed already",
    "bad_calls_are_errors": "check calls against the schema; answer ToolResult(..., error=True)",
    "hostile_calls_are_survived": "bound sizes in the schema; answer, never raise",
    "refused_calls_change_nothing": "give a tool that changes the world the effect 'write'",
    "reference_scores_one": "compare score() with the reference's own results and states",
    "every_turn_has_a_verdict": "give one verdict for every turn of the task, played or not",
    "an_empty_rollout_earns_nothing": "let turns that were not played fail",
    "scoring_repeats": "score from task and trajectory alone, in fresh worlds",
    "silence_earns_nothing": "drop these tasks: an idle policy would be rewarded",
    "idling_solves_nothing": "the goal of a turn must not hold before the turn",
    "random_calls_solve_nothing": "make the goals harder to guess",
    "hidden_tools_come_with_reveals": "leave a tool that is handed over later out of Task.tools",
    "practice_repeats": "draw practice() from random.Random(rng_seed) and from train entities",
    "open_and_replay_time": "mend what open() or call() raises",
    "another_process_changes_nothing": "sort sets before they are used; read no global state",
}
