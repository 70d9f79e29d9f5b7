"""The pinned wheel: found, checked, fetched."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from rods_bfcl.asset import Asset, manifest, open_asset
from rods_bfcl.environment import BfclEnvironment

from rods.errors import DataError
from rods.wheels import cache_folder

WHEEL = "bfcl_eval-2026.3.23-py3-none-any.whl"


@pytest.fixture
def wheel(asset: Asset) -> Path:
    path = Path(asset.origin)
    if not path.is_file():
        pytest.skip("the asset of this machine is an installed copy")
    return path


@pytest.fixture
def empty_cache(asset: Asset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No cached asset, and an index that has nothing."""
    monkeypatch.setenv("RODS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "cache"


@pytest.fixture
def unpacked(wheel: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_every_pinned_file_has_its_hash(asset: Asset) -> None:
    assert len(manifest()) > 20
    for member in manifest():
        assert asset.read(member)


def test_a_path_wins_over_everything_else(wheel: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere.whl"
    copy.write_bytes(wheel.read_bytes())
    assert open_asset(copy).origin == str(copy)


def test_an_unpacked_wheel_serves_as_well(unpacked: Path) -> None:
    environment = BfclEnvironment(BfclEnvironment.Config(asset=unpacked, kinds=("base",)))
    assert len(environment.tasks("eval")) == 100


def test_a_missing_path_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"nowhere.whl' does not exist.*Leave the option environment.asset"
    ):
        open_asset(tmp_path / "nowhere.whl")


def test_a_tampered_wheel_is_refused(wheel: Path, tmp_path: Path) -> None:
    content = bytearray(wheel.read_bytes())
    content[1000] ^= 1
    damaged = tmp_path / WHEEL
    damaged.write_bytes(content)
    with pytest.raises(DataError, match=r"damaged or of another release.*fetched again"):
        open_asset(damaged)


def test_a_tampered_file_of_a_folder_is_refused(unpacked: Path) -> None:
    member = "bfcl_eval/data/BFCL_v4_multi_turn_base.json"
    (unpacked / member).write_text("{}")
    with pytest.raises(DataError, match=r"multi_turn_base.json has another SHA-256"):
        open_asset(unpacked).read(member)


def test_a_missing_file_of_a_folder_is_named(unpacked: Path) -> None:
    member = "bfcl_eval/data/BFCL_v4_multi_turn_base.json"
    (unpacked / member).unlink()
    with pytest.raises(DataError, match=r"lack bfcl_eval/data/BFCL_v4_multi_turn_base.json"):
        open_asset(unpacked).read(member)


def test_without_network_one_line_says_what_to_do(empty_cache: Path) -> None:
    with pytest.raises(DataError) as caught:
        open_asset()
    text = str(caught.value)
    assert "pip download --no-deps bfcl-eval==2026.3.23" in text
    assert "\n" not in text
    assert not list(empty_cache.rglob("*.whl"))


def test_the_first_use_fetches_and_the_second_finds(
    empty_cache: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / WHEEL).write_bytes(wheel.read_bytes())
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    fetched = open_asset()
    assert fetched.origin == str(empty_cache / "bfcl" / WHEEL)
    assert cache_folder() == empty_cache
    (shelf / WHEEL).unlink()
    assert open_asset().origin == fetched.origin


def test_a_fetched_wheel_is_checked_too(
    empty_cache: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with (
        zipfile.ZipFile(wheel) as original,
        zipfile.ZipFile(shelf / WHEEL, "w") as other,
    ):
        for name in original.namelist():
            if "dist-info" in name:
                other.writestr(name, original.read(name))
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    with pytest.raises(DataError, match="damaged or of another release"):
        open_asset()


def test_an_installed_copy_of_the_release_is_used(
    empty_cache: Path, unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(unpacked))
    assert open_asset().origin == str(unpacked)


def test_an_installed_copy_of_another_release_is_not(
    empty_cache: Path, unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = next(unpacked.glob("*.dist-info")) / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 2026.3.23", "Version: 2025.1.1"))
    monkeypatch.syspath_prepend(str(unpacked))
    with pytest.raises(DataError, match="cannot be fetched"):
        open_asset()


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RODS_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="Set RODS_CACHE to a folder that can be written"):
        open_asset()


def test_loading_leaves_no_trace_in_the_interpreter(asset: Asset) -> None:
    program = (
        "import sys; before = list(sys.path)\n"
        "from pathlib import Path\n"
        "from rods_bfcl.environment import BfclEnvironment\n"
        f"config = BfclEnvironment.Config(asset=Path({asset.origin!r}))\n"
        "environment = BfclEnvironment(config); task = environment.tasks('eval')[0]\n"
        "environment.open(task).state()\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'bfcl_eval', 'numpy', 'torch', 'requests'}, loaded\n"
        "assert sys.path == before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
