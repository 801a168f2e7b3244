"""What the agent leaves behind: assets as files that are never overwritten, measurements as a journal."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest

from personas.assets import SIZE_LIMIT, add_asset, asset_text, find_asset, list_assets
from personas.errors import InvalidValue, OutsideHome, StorageError
from personas.files.home import Home
from personas.files.text_file import replace_file
from personas.measurements import (
    Measurement,
    add_measurement,
    as_csv,
    dimensions,
    read_measurements,
    sparkline,
)


def names(home: Home, persona_id: str | None = "p") -> list[str]:
    return [one.name for one in list_assets(home, persona_id)]


def test_an_asset_gets_a_safe_name_and_is_never_overwritten(home: Home) -> None:
    assert add_asset(home, "p", "Der Plan.md", "md", "one") == "der-plan.md"
    assert add_asset(home, "p", "der plan", "md", "two") == "der-plan-2.md"
    assert add_asset(home, "p", "der plan", "toml", "a = 1") == "der-plan.toml"
    assert add_asset(home, "p", "../../etc/passwd", "txt", "x") == "etc-passwd.txt"
    assert add_asset(home, "p", "\0/..", "code", "x") == "asset.code"
    assert asset_text(home, find_asset(home, "p", "der-plan.md")) == "one"
    assert asset_text(home, find_asset(home, "p", "der-plan-2")) == "two"
    with pytest.raises(InvalidValue, match=r"several assets 'der-plan'.*der-plan.md, der-plan.toml"):
        find_asset(home, "p", "der-plan")
    with pytest.raises(InvalidValue, match="no asset 'other'"):
        find_asset(home, "p", "other")
    with pytest.raises(InvalidValue):
        add_asset(home, "p", "big", "txt", "x" * (SIZE_LIMIT + 1))
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: add_asset(home, "q", "same", "txt", str(n)), range(16)))
    assert len(set(made)) == 16 == len(names(home, "q"))
    assert {asset_text(home, one) for one in list_assets(home, "q")} == {str(n) for n in range(16)}
    with mock.patch("personas.assets.replace_file", wraps=replace_file) as written:
        assert add_asset(home, "q", "same", "txt", "last") == "same-17.txt"
    assert written.call_count == 1, "names that are taken cost no write"
    assert len(list_assets(home)) == 22
    assert all(os.stat(one.path).st_mode & 0o777 == 0o600 for one in list_assets(home))


def test_only_regular_files_of_the_home_are_assets(home: Home, tmp_path: Path) -> None:
    add_asset(home, "p", "mine", "txt", "mine")
    folder = home.assets / "p"
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "folder.md").mkdir()
    (folder / "other.exe").write_text("x")
    os.mkfifo(folder / "pipe.txt")
    assert names(home) == ["mine.txt"]
    asset = find_asset(home, "p", "mine.txt")
    asset.path.unlink()
    asset.path.symlink_to(tmp_path / "secret.txt")
    with pytest.raises(OutsideHome):
        asset_text(home, asset)
    asset.path.unlink()
    with pytest.raises(StorageError):
        asset_text(home, asset)
    (home.assets / "out").symlink_to(tmp_path)
    for call in (
        lambda: names(home, "out"),
        lambda: names(home, "../p"),
        lambda: add_asset(home, "out", "a", "md", ""),
    ):
        with pytest.raises(OutsideHome):
            call()
    assert names(home, None) == [] and names(home, "nobody") == []


def measured(dimension: str, score: float, minute: int = 0) -> Measurement:
    return Measurement(dimension, score, "so", "agent", f"2026-01-01T00:{minute:02}:00.000Z")


def test_measurements_are_appended_read_and_laid_out_by_dimension(home: Home) -> None:
    for minute, (dimension, score) in enumerate([("warmth", 1), (" clarity\n", 5), ("warmth", 3.5)]):
        add_measurement(home, "p", measured(dimension, score, minute))
    with open(home.measurements / "p.jsonl", "a") as file:
        file.write(
            '{"dimension":"x","score":"high"}\n{"dimension":"x","score":1e999}\n{"dimension":"x","score":true}\ntorn'
        )
    found = read_measurements(home, "p")
    assert [(one.dimension, one.score) for one in found] == [("warmth", 1), ("clarity", 5), ("warmth", 3.5)]
    assert [one.row for one in dimensions(found)] == [
        ("warmth", "3.5", "1 to 3.5", "2", "2026-01-01 00:02", "▁█"),
        ("clarity", "5", "5 to 5", "1", "2026-01-01 00:01", "▄"),
    ]
    assert (
        as_csv(found[:1])
        == "dimension,score,notes,source,time\nwarmth,1.0,so,agent,2026-01-01T00:00:00.000Z\n"
    )
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7, 0]) == "▁▂▃▄▅▆▇█▁"
    assert sparkline([-1e308, 1e308]) == "▁█" and len(sparkline(range(99))) == 30
    for wrong in (measured(" \n", 1), measured("x" * 101, 1), measured("x", float("nan"))):
        with pytest.raises(InvalidValue):
            add_measurement(home, "p", wrong)
    for bad in ("../p", ""):
        with pytest.raises(OutsideHome):
            read_measurements(home, bad)
    assert read_measurements(home, "nobody") == []
