"""`persona assets` and `persona measurements`: lists, shapes of `--json`, the editor, exports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from personas.assets import add_asset
from personas.measurements import Measurement, add_measurement
from tests.support.persona_agent import Workplace


def run(place: Workplace, *arguments: str, code: int = 0, **env: str) -> str:
    done = place.run_here(*arguments, env=env)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def test_assets_are_listed_shown_edited_and_exported(place: Workplace, tmp_path: Path) -> None:
    home = place.store.home
    run(place, "new", "P")
    assert "No assets yet" in run(place, "assets") and "No assets yet" in run(place, "assets", "p")
    assert "nobody" in run(place, "assets", "nobody", code=1)
    add_asset(home, "p", "plan", "md", "one\x1b]0;title\x07\n")
    add_asset(home, "p", "plan", "md", "two")
    (listed, *_), shown = json.loads(run(place, "assets", "p", "--json")), run(place, "assets")
    assert listed == {"persona": "p", "name": "plan-2.md", "size": 3, "at": listed["at"]}
    assert shown.split()[:4] == ["p", "plan-2.md", "3", "B"]
    assert "\x1b" not in run(place, "assets", "p", "plan.md")
    assert json.loads(run(place, "assets", "p", "plan", "--json"))["content"] == "one\x1b]0;title\x07\n"
    editor = f"{sys.executable} -c \"import sys; open(sys.argv[1], 'a').write('mine')\""
    run(place, "assets", "p", "plan-2", "--edit", EDITOR=editor, VISUAL="")
    out = tmp_path / "out"
    assert "exported" in run(place, "assets", "p", "--export", str(out))
    assert (out / "plan-2.md").read_text() == "twomine" and "\x1b" in (out / "plan.md").read_text()
    assert "already" in run(place, "assets", "p", "plan", "--export", str(out), code=1)
    run(place, "assets", "--export", str(out), code=2)
    run(place, "assets", "p", "--edit", code=2)


def test_measurements_are_shown_by_dimension_and_come_out_as_csv_and_json(place: Workplace) -> None:
    run(place, "new", "P")
    assert "No measurements yet" in run(place, "measurements", "p")
    assert "nobody" in run(place, "measurements", "nobody", code=1)
    for score in (1, 4):
        add_measurement(
            place.store.home, "p", Measurement("warmth", score, 'a "b"', "agent", "2026-01-01T00:00:00Z")
        )
    assert run(place, "measurements", "p").splitlines()[1].split() == [
        "warmth", "4", "1", "to", "4", "2", "2026-01-01", "00:00", "▁█",
    ]  # fmt: skip
    assert (
        run(place, "measurements", "p", "--csv").splitlines()[1]
        == 'warmth,1.0,"a ""b""",agent,2026-01-01T00:00:00Z'
    )
    assert json.loads(run(place, "measurements", "p", "--json"))[1] == {
        "dimension": "warmth", "score": 4.0, "notes": 'a "b"', "source": "agent", "time": "2026-01-01T00:00:00Z",
    }  # fmt: skip
