"""The YAML files of the suites, read from the asset with what they include."""

from __future__ import annotations

from typing import Any

import yaml

from rods_agentdojo.asset import SUITES, Asset


def read_suite_text(asset: Asset, suite: str, file: str) -> str:
    """The file with its includes, as YAML whose strings are quoted: injections are put into it."""

    loader: Any = type("IncludingLoader", (yaml.SafeLoader,), {})

    def include(reading: Any, node: Any) -> Any:
        return _load(asset, f"{SUITES}/{suite}/{reading.construct_scalar(node)}", loader)

    loader.add_constructor("!include", include)
    content = _load(asset, f"{SUITES}/{suite}/{file}", loader)
    return str(yaml.dump(content, Dumper=_QUOTING, default_flow_style=False))


def _load(asset: Asset, member: str, loader: Any) -> Any:
    return yaml.load(asset.text(member), loader)


def _quoted(dumper: Any, text: str) -> Any:
    """Every string stands in double quotes."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


# Of our own: upstream changes the dumper of the whole process.
_QUOTING: Any = type("QuotingDumper", (yaml.SafeDumper,), {})
_QUOTING.add_representer(str, _quoted)
