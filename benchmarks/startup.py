"""How long `rods --help` and `import rods` take, and that neither loads a heavy library.

Each command runs in a process of its own, in turns with `python -c pass`; the best of the runs
counts. The ratio to the bare interpreter is what can be compared between machines. Exit status 1
if a limit is passed or a heavy library is loaded.

    python benchmarks/startup.py [--repeat N] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

HEAVY = ("dspy", "sqlmodel", "sqlalchemy", "torch", "transformers", "numpy", "pydantic")
HELP = "import sys; sys.argv = ['rods', '--help']; from rods.cli import main; main()"
COMMANDS = {  # name -> code, limit in seconds
    "python": ("pass", None),
    "import rods": ("import rods", 0.3),
    "rods --help": (HELP, 0.4),
    "rods --version": (HELP.replace("--help", "--version"), 0.4),
    "rods run --help": (HELP.replace("'--help'", "'run', '--help'"), 0.4),
}


def main() -> None:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=10, help="runs of each command")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    rows = measure(options.repeat)
    if options.json:
        print(json.dumps(rows))
    else:
        show(rows)
    sys.exit(0 if all(row["ok"] for row in rows.values()) else 1)


def measure(repeat: int) -> dict[str, dict[str, object]]:
    """Best wall time in seconds of each command, interleaved, and the heavy modules it loads."""
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(repeat):
        for name, (code, _) in COMMANDS.items():
            best[name] = min(best[name], seconds(code))
    return {name: row(name, best[name], best["python"]) for name in COMMANDS}


def row(name: str, best: float, bare: float) -> dict[str, object]:
    """One command's result."""
    code, limit = COMMANDS[name]
    heavy = loaded(code)
    ok = limit is None or (best <= limit and not heavy)
    ratio = round(best / bare, 2)
    return {"seconds": round(best, 4), "ratio": ratio, "limit": limit, "heavy": heavy, "ok": ok}


def seconds(code: str) -> float:
    """Wall time of one fresh interpreter."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def loaded(code: str) -> list[str]:
    """The heavy libraries among the modules of a process that has run ``code``."""
    tail = f"import atexit, sys; heavy = {HEAVY!r}\n"
    tail += (
        "atexit.register(lambda: print(*[m for m in heavy if m in sys.modules], file=sys.stderr))\n"
    )
    command = [sys.executable, "-c", tail + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()


def show(rows: dict[str, dict[str, object]]) -> None:
    """The results as a table."""
    print(f"{'':18}seconds   of python   limit   heavy libraries")
    for name, result in rows.items():
        limit = result["limit"] or "-"
        heavy = " ".join(map(str, result["heavy"])) or "none"  # type: ignore[call-overload]
        print(f"{name:18}{result['seconds']:7.3f}{result['ratio']:11.1f}x{limit:>8}   {heavy}")


if __name__ == "__main__":
    main()
