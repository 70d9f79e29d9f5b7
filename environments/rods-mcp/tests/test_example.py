"""The example for users reads as settings of this world and of its trainer."""

from __future__ import annotations

from pathlib import Path

from rods_mcp.declarations import declared

from rods.assembly import assemble

EXAMPLE = Path(__file__).parents[3] / "examples" / "mcp-memory.toml"


def test_the_example_is_valid_and_finds_the_servers_declaration() -> None:
    assembly = assemble(config=EXAMPLE)
    assert assembly.resolved()["trainer"]["model"].startswith("Qwen/")
    environment = assembly.environment()
    try:
        known = declared(environment.config)  # type: ignore[arg-type]
        assert (known.options.reset, known.options.results) == ("files", "structured")
        assert known.command[-1].startswith("@modelcontextprotocol/server-memory@")
    finally:
        environment.close()
