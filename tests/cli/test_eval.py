"""``rods eval``: recordings and policies, whole files, and one line for bad input."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rods.testing import FakeEnvironment, FakeTrainer

Rods = Callable[..., subprocess.CompletedProcess[str]]
TASKS = FakeEnvironment().tasks("train")


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Eight references, and the first of them cut after one turn."""
    lines = []
    for task, turns in [*((task, None) for task in TASKS), (TASKS[0], 1)]:
        calls = [[[c.model_dump() for c in t.reference]] for t in task.turns[:turns]]
        lines.append(json.dumps({"task_id": task.id, "trajectory": calls, "run": 7}))
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """The policy of a fake trainer that solves six turns in ten."""
    FakeTrainer(FakeTrainer.Config(skill=0.6)).save(tmp_path / "policy")
    return tmp_path / "policy"


def score(here: Rods, path: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return here("eval", "--plugins", "stockroom", "--trajectories", path, *more)


# ------------------------------------------------------------------------------- recordings
def test_recordings_come_out_with_verdicts(here: Rods, recordings: Path, tmp_path: Path) -> None:
    done = score(here, recordings, "--out", "v.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    verdicts = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert [v["valid"] for v in verdicts] == [True] * 8 + [False]
    assert all(v["run"] == 7 for v in verdicts)
    assert "valid              0.889" in done.stdout


def test_the_summary_is_json_for_scripts(here: Rods, recordings: Path) -> None:
    done = score(here, recordings, "--out", "v.jsonl.gz", "--json")
    summary = json.loads(done.stdout)
    assert (summary["lines"], summary["scored"], summary["errors"]) == (9, 9, 0)
    assert summary["valid_by_kind"]["base"] == pytest.approx(2 / 3)
    assert summary["progress"]["judged"] == pytest.approx((8 + 1 / 3) / 9)


def test_a_corrupt_line_stops_with_its_number_and_keeps_what_was_done(
    here: Rods, recordings: Path, tmp_path: Path
) -> None:
    lines = recordings.read_text().splitlines()
    recordings.write_text("\n".join([*lines[:3], lines[3][:40], *lines[4:]]))
    done = score(here, recordings, "--out", "v.jsonl")
    assert done.returncode == 2
    error, note = done.stderr.splitlines()
    assert error.startswith(f"Error: {recordings} line 4 is no JSON: ")
    assert note == "The 3 lines done are in v.jsonl.partial."
    assert not (tmp_path / "v.jsonl").exists()
    again = score(here, recordings, "--out", "v.jsonl", "--on-error", "skip")
    assert (again.returncode, "begin anew with --force" in again.stderr) == (2, True)
    skipped = score(here, recordings, "--out", "v.jsonl", "--on-error", "skip", "--json", "--force")
    assert skipped.returncode == 0
    assert json.loads(skipped.stdout)["errors"] == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"task_id": "none", "trajectory": []}', "line 1: There is no task 'none'"),
        ('{"task_id": "fake_train_base_0"}', "line 1: The column 'trajectory' is missing"),
        ("[]", "line 1 is a JSON list, not an object."),
    ],
)
def test_a_bad_recording_is_one_line(here: Rods, tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "r.jsonl").write_text(line)
    done = score(here, tmp_path / "r.jsonl", "--out", "v.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [p.name for p in tmp_path.glob("v.*")] == []


def test_a_cut_gzip_file_is_named(here: Rods, recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(recordings.read_bytes())[:-4])
    done = score(here, tmp_path / "cut.gz", "--out", "v.jsonl")
    assert done.returncode == 2
    error, note = done.stderr.splitlines()
    assert "cut.gz is a damaged gzip file after line 9: " in error
    assert note == "The 9 lines done are in v.jsonl.partial."


@pytest.mark.parametrize(
    ("out", "status", "said"),
    [
        ("no/such/folder/v.jsonl", 2, "Cannot write no/such/folder/v.jsonl: No such file"),
        ("/dev/full", 1, "No space"),
        ("/proc/v.jsonl", 2, "Cannot write /proc/v.jsonl"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_line(
    here: Rods, recordings: Path, out: str, status: int, said: str
) -> None:
    done = score(here, recordings, "--out", out)
    assert done.returncode == status
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_world_without_recordings_says_so(here: Rods, recordings: Path) -> None:
    done = here("eval", "--plugins", "office", "--trajectories", recordings, "--out", "v.jsonl")
    assert done.returncode == 2
    assert "The environment 'office' cannot score recorded trajectories." in done.stderr


@pytest.mark.parametrize(
    ("text", "more", "status", "said"),
    [
        ("", (), 2, "Error: r.jsonl holds no line to score."),
        ("\n \n", ("--on-error", "skip"), 2, "Error: r.jsonl holds no line to score."),
        ("[]\n{}\n", ("--on-error", "skip"), 1, "None of the 2 lines could be scored; "),
        (f'{{"task_id": {"9" * 5000}}}', (), 2, "Error: r.jsonl line 1 holds too long a number."),
    ],
    ids=["empty", "blank", "no verdict", "digits"],
)
def test_a_file_without_a_verdict_is_no_success(
    here: Rods, tmp_path: Path, text: str, more: tuple[str, ...], status: int, said: str
) -> None:
    (tmp_path / "r.jsonl").write_text(text)
    done = score(here, Path("r.jsonl"), "--out", "v.jsonl", *more)
    assert done.returncode == status
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(said)
    assert (tmp_path / "v.jsonl").exists() == (status == 1)


def test_one_line_done_is_one(here: Rods, recordings: Path) -> None:
    first = recordings.read_text().splitlines()[0]
    recordings.write_text(f"{first}\n[]\n")
    note = score(here, recordings, "--out", "v.jsonl").stderr.splitlines()[-1]
    assert note == "The line done is in v.jsonl.partial."


# ------------------------------------------------------------------------------- policies
def evaluate(here: Rods, policy: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return here("eval", "--plugins", "stockroom", "--policy", policy, *more)


def test_a_policy_has_levels_with_intervals_in_all_and_by_kind(here: Rods, policy: Path) -> None:
    done = evaluate(here, policy, "-k", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert "stockroom eval, 2 rollouts a task" in done.stdout
    for name in ("all", "kind base", "kind miss_func", "kind miss_param", "kind long_context"):
        assert name in done.stdout
    report = json.loads(evaluate(here, policy, "-k", 2, "--json").stdout)
    assert report["rollouts"] == report["n"] * 2
    low, high = report["progress_ci"]
    assert low <= report["progress"] <= high
    assert set(report["kinds"]) == {"base", "miss_func", "miss_param", "long_context"}


def test_equal_seeds_give_equal_reports_and_the_split_is_chosen(here: Rods, policy: Path) -> None:
    first, again, train = (
        json.loads(evaluate(here, policy, "--seed", 4, "--json", *more).stdout)
        for more in ((), (), ("--split", "train"))
    )
    assert first | {"seconds": 0} == again | {"seconds": 0}
    assert first["progress"] != train["progress"]


def test_a_policy_in_a_run_is_evaluated_with_the_settings_of_its_run(
    here: Rods, tmp_path: Path
) -> None:
    FakeTrainer().save(tmp_path / "run" / "policy")
    settings = '[run]\nplugins = ["stockroom"]\n[environment]\ntasks = 4\n'
    (tmp_path / "run" / "config.toml").write_text(settings)
    done = here("eval", "--policy", "run/policy", "--json")
    assert json.loads(done.stdout)["n"] == 4
    assert done.stderr == "Settings: run/config.toml\n"


def test_rollouts_are_written_one_task_a_line(here: Rods, policy: Path, tmp_path: Path) -> None:
    done = evaluate(here, policy, "--tasks", 4, "--out", "r.jsonl.gz", "-k", 3)
    assert done.returncode == 0
    lines = gzip.decompress((tmp_path / "r.jsonl.gz").read_bytes()).splitlines()
    records = [json.loads(line) for line in lines]
    assert {record["kind"] for record in records} == {t.kind for t in TASKS}
    assert all(len(record["rewards"]) == 3 for record in records)


def test_an_outage_is_counted_and_is_no_zero(here: Rods, policy: Path) -> None:
    options = ("-o", "environment.outage_every=1", "--json")
    report = json.loads(evaluate(here, policy, *options).stdout)
    assert report["progress"] is None
    assert report["unscored_rollouts"] == report["rollouts"]
    shown = evaluate(here, policy, *options[:2])
    assert shown.returncode == 1
    assert shown.stderr == "Not one rollout has a reward: an outage ended them all.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policy", "nowhere"), "nowhere is no folder with a policy"),
        (("--policy", "."), "holds no policy of the fake trainer"),
        ((), "Give either --trajectories FILE or --policy DIR"),
        (("--policy", ".", "--trajectories", "x"), "Give either"),
        (("--trajectories", "x"), "--trajectories needs --out FILE"),
        (("--trajectories", "x", "--out", "y"), "Cannot read x: No such file or directory."),
        (("--policy", ".", "-k", "0"), "0 is not in the range"),
    ],
)
def test_bad_input_is_named_with_status_2(
    here: Rods, arguments: tuple[str, ...], said: str
) -> None:
    done = here("eval", "--plugins", "stockroom", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.splitlines()[-1]
