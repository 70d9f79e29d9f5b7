"""``rods eval --policy``: tasks are played by a trained policy's folder or by a served model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rods import __version__
from rods.cli.options import parts_without_demo, refuse_to_lose, settings_in
from rods.cli.output import data_line, print_json, print_pairs, print_table, progress_bar, say
from rods.errors import ConfigError, DataError
from rods.interfaces import Environment
from rods.served.config import HOSTED, SERVED

if TYPE_CHECKING:
    from rods.assembly import Assembly
    from rods.preparation import Policy
    from rods.unfinished import Unfinished

SERVED_FLAGS = {
    "lm_url": "--lm-url",
    "lm_key": "--lm-key-env",
    "temperature": "--temperature",
    "max_tokens": "--max-tokens",
    "concurrency": "--concurrency",
}


def served_options(command: Any) -> Any:
    """Where a served model is and how it samples; None where a flag was not given."""
    options = (
        click.option("--lm-url", metavar="URL", help=f"The model's server.  [default: {HOSTED}]"),
        click.option(
            "--lm-key-env",
            "lm_key",
            metavar="NAME",
            help="Environment variable with the server's key.  [default: OPENAI_API_KEY]",
        ),
        click.option(
            "--temperature",
            type=click.FloatRange(0, 2),
            help="Of a served model.  [default: the server's own]",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(1),
            help="Longest message of a served model.  [default: the server's own]",
        ),
        click.option(
            "--concurrency",
            type=click.IntRange(1, 1024),
            help="Rollouts of a served model at a time.  [default: 8]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Player:
    """A policy that can play, and what its rollouts depend on."""

    name: str
    policy: Policy
    terms: Mapping[str, Any]

    @property
    def usage(self) -> dict[str, int]:
        """Requests and tokens of a served model; nothing for others."""
        usage = getattr(self.policy, "usage", None)
        return usage() if usage is not None else {}


def evaluate(policy: str, options: Mapping[str, Any], as_json: bool) -> int:
    """Play and show what the policy reaches; exit status 1 if an outage left nothing to show."""
    folder = Path(policy)  # a run's policy or checkpoint brings the settings of the run
    near = () if _is_served(policy) else (folder.parent, folder.parent.parent)
    config = options["config"] or settings_in(*near)
    parts = evaluated_parts(options["plugins"], config, options)
    with player(policy, parts, options) as playing, closing(parts.environment()) as environment:
        out = unfinished_of(playing, parts, environment, options)
        report = played(playing, environment, parts, options, out)
    if not report["n"]:
        say("Not one rollout has a reward: an outage ended them all.")
    if as_json:
        print_json(report)
    else:
        _show(report)
    return 0 if report["n"] else 1


def evaluated_parts(
    plugins: str | None, config: Path | None, options: Mapping[str, Any]
) -> Assembly:
    """The parts, with the world set as the split wants it."""
    from rods.suites import split_overrides

    parts = parts_without_demo(plugins, config, options["overrides"])
    own = split_overrides(parts.component("environment"), options["split"], options["overrides"])
    return parts if own == options["overrides"] else parts_without_demo(plugins, config, own)


def played(
    playing: Player,
    environment: Environment,
    parts: Assembly,
    options: Mapping[str, Any],
    out: Unfinished | None = None,
) -> dict[str, Any]:
    """The report on a policy in a world, with a progress bar while it plays."""
    from rods.cli.interruption import interruptible
    from rods.policy_report import evaluate_policy

    with interruptible() as interruption, progress_bar("Evaluating", 100) as advance:

        def moved(done: int, total: int) -> None:
            interruption.check()
            advance(100 * done // total, f"{done} of {total}")

        report = evaluate_policy(
            playing.policy,
            environment,
            split="train" if options["split"] == "train" else "eval",
            tasks=options["tasks"],
            samples=options["samples"],
            seed=parts.run.seed if options["seed"] is None else options["seed"],
            out=out,
            progress=moved,
        )
    used = {"lm": playing.usage, "user": dict(environment.user_usage())}
    report["split"] = options["split"]
    return {"policy": playing.name, **report, **{who: u for who, u in used.items() if u}}


# ------------------------------------------------------------------------------- who plays
@contextmanager
def player(policy: str, parts: Assembly, options: Mapping[str, Any]) -> Iterator[Player]:
    """The policy that ``--policy`` names: a server's model, or a folder that the trainer reads."""
    if _is_served(policy):
        yield _served(policy, options)
        return
    given = [flag for key, flag in SERVED_FLAGS.items() if options[key] is not None]
    if given:
        raise ConfigError(f"{given[0]} is for a served model: --policy {SERVED}NAME.")
    if not Path(policy).is_dir():
        raise DataError(
            f"{policy} is no folder with a policy; a run's is RUN/policy, and a served model is "
            f"{SERVED}NAME."
        )
    yield _trained(Path(policy), parts)


def _is_served(policy: str) -> bool:
    return policy.startswith(SERVED)


def _served(policy: str, options: Mapping[str, Any]) -> Player:
    from rods.served import ServedConfig, ServedPolicy

    given = {
        "url": options["lm_url"],
        "api_key_env": options["lm_key"],
        **{key: options[key] for key in ("temperature", "max_tokens", "concurrency")},
    }
    name = policy.removeprefix(SERVED)
    if not name:
        raise ConfigError(f"--policy {SERVED} lacks the model's name, as the server knows it.")
    config = ServedConfig(model=name, **{k: v for k, v in given.items() if v is not None})
    served = ServedPolicy(config)
    served.require()
    return Player(policy, served, {"policy": config.model_dump(mode="json")})


def _trained(folder: Path, parts: Assembly) -> Player:
    from rods.unfinished import policy_stamp

    trainer = parts.trainer()
    settings = [parts.component("trainer").name, parts.config("trainer").model_dump(mode="json")]
    terms = {"trainer": settings, "policy": policy_stamp(folder)}
    trainer.load(folder)
    return Player(str(folder), trainer, terms)


def unfinished_of(
    playing: Player, parts: Assembly, environment: Environment, options: Mapping[str, Any]
) -> Unfinished | None:
    """Where the rollouts go, with those that an interrupted call of this command has made."""
    from rods.unfinished import unfinished

    out, force = options["out"], options["force"]
    if out is None:
        return None
    if out.is_file() or force:
        refuse_to_lose(out, force)
    asked = {name: options[name] for name in ("split", "tasks", "samples", "seed")}
    config = parts.config("environment").model_dump(mode="json")
    world = [environment.name, config, dict(environment.data_hashes())]
    made = {"run.seed": parts.run.seed, "rods": __version__}
    terms = {**asked, **playing.terms, "environment": world, **made}
    found = unfinished(out, terms, anew=force)
    if found.lines:
        say(f"Going on after {len(found.lines)} tasks, which are in {found.partial}.")
    return found


# ------------------------------------------------------------------------------- what is shown
def _show(report: Mapping[str, Any]) -> None:
    """Levels in all, by kind and by set; then what was left out and what it was read from."""
    levels = {
        "all": report,
        **{f"kind {name}": level for name, level in report["kinds"].items()},
        **{f"set {name}": level for name, level in report["sets"].items()},
    }
    columns = ("", "tasks", "progress (95 % interval)", "all turns solved (95 % interval)")
    title = f"{report['environment']} {report['split']}, {report['samples']} rollouts a task"
    print_table(title, columns, [(name, *cells(level)) for name, level in levels.items()])
    print_pairs(report["policy"], _below(report))


def _below(report: Mapping[str, Any]) -> dict[str, Any]:
    used = report.get("lm", {})
    pairs = {
        **({"protocol": report["protocol"]} if report["protocol"] else {}),
        "rollouts": report["rollouts"],
        "unscored (an outage)": report["unscored_rollouts"],
        **{f"ended: {stop}": n for stop, n in report["stops"].items()},
        "malformed calls": report["malformed"],
        **usage_lines("model", used),
        **usage_lines("user", report.get("user", {})),
        "seed": report["seed"],
        "seconds": report["seconds"],
        **data_line(report["data_hashes"]),
    }
    if used.get("calls_as_text"):
        pairs["note"] = (
            "the server hands calls out as text; start it with its tool-call parser "
            "(vLLM: --enable-auto-tool-choice --tool-call-parser NAME)"
        )
    return pairs


def usage_lines(who: str, used: Mapping[str, float]) -> dict[str, float]:
    """What a model was asked, for people; the price to six places."""
    return {f"{who}: {name.replace('_', ' ')}": round(n, 6) for name, n in used.items()}


def cells(level: Mapping[str, Any]) -> tuple[object, ...]:
    """Tasks, progress and solved with their intervals."""
    if level["progress"] is None:
        return (0, None, None)
    shown = [
        f"{level[name]:.3f} ({low:.3f} to {high:.3f})"
        for name, (low, high) in (
            ("progress", level["progress_ci"]),
            ("solved", level["solved_ci"]),
        )
    ]
    return (level["n"], *shown)
