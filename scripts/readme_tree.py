"""Write the tree at the end of README.md from the first line of every module's docstring.

python scripts/readme_tree.py [--check]
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
START = "<!-- tree: scripts/readme_tree.py writes what follows -->\n"
OTHERS = {
    "Makefile": "every command of this page",
    "constraints.txt": "the versions that were tested together",
    ".ci/run": "lint, types, layers, tests",
}


def main() -> None:
    """Write the tree, or with --check say whether it is the one in the README."""
    text = README.read_text(encoding="utf-8")
    before = text.partition(START)[0]
    wanted = f"{before}{START}```text\n" + "".join(f"{line}\n" for line in tree()) + "```\n"
    if "--check" in sys.argv:
        sys.exit(0 if wanted == text else "README.md: run python scripts/readme_tree.py.")
    README.write_text(wanted, encoding="utf-8")


def tree() -> Iterator[str]:
    """Every module of the packages and every tool, a folder at a time."""
    folder = None
    for path in modules():
        if path.parent != folder:
            folder = path.parent
            yield f"{folder.as_posix()}/"
        yield f"  {path.name:<24} {summary(ROOT / path)}"
    for name, text in OTHERS.items():
        yield f"{name:<26} {text}"


def modules() -> list[Path]:
    """The tracked Python files outside tests that have something to say, folders together."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [Path(name) for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    kept = [p for p in paths if "tests" not in p.parts and "migrations" not in p.parts]
    described = [
        p for p in kept if p.name != "__init__.py" or len(p.parts) == 2 or summary(ROOT / p)
    ]
    return sorted(described, key=lambda p: (order(p), p.parent.as_posix(), p.name))


def order(path: Path) -> int:
    """The core first, then worlds, plugins and tools."""
    tops = ("rods", "environments", "plugins", "benchmarks", "scripts")
    return tops.index(path.parts[0]) if path.parts[0] in tops else len(tops)


def summary(path: Path) -> str:
    """The first line of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".")


if __name__ == "__main__":
    main()
