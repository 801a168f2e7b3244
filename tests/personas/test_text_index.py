"""The texts of all personas: the same with the index as without, whatever changed since it was stored."""

from __future__ import annotations

import json
from pathlib import Path

from personas.files.home import open_home
from personas.files.stamped_index import _MANY
from personas.store import Store
from personas.text_index import texts_of_all


def test_texts_of_many_personas_are_read_from_what_is_stored_and_follow_every_change(tmp_path: Path) -> None:
    store = Store(open_home(tmp_path / "home"))
    folder, index = store.home.personas, store.home.state / "persona-texts.json"

    def texts() -> dict[str, list[tuple[str, str]]]:
        return {one.id: one.texts for one in texts_of_all(store) if one.error is None}

    few = texts()
    assert few and not index.exists(), "a small home needs nothing"
    for number in range(_MANY):
        (folder / f"p{number}.toml").write_text(
            f'system_prompt = "Be {number}."\n[[test_inputs]]\nid = "a"\ncontent = "Hi"\n'
        )
    (folder / "broken.toml").write_text("system_prompt = \n")
    next(texts_of_all(store))  # nobody asks for the rest
    assert not index.exists()
    many = texts()
    assert many["p7"] == [("prompt", "Be 7."), ("input a", "Hi")] and "broken" not in many
    assert index.exists() and texts() == many and many.items() > few.items()
    (folder / "p0.toml").write_text('system_prompt = "by hand"\n')
    (folder / "p1.toml").unlink()
    (folder / "broken.toml").write_text('system_prompt = "whole"\n')
    store.home.instead[folder / "p2.toml"] = b'system_prompt = "proposed"\n'
    changed = texts()
    assert changed["p0"] == [("prompt", "by hand")] and changed["p2"] == [("prompt", "proposed")]
    assert "p1" not in changed and changed["broken"] == [("prompt", "whole")]
    store.home.instead.clear()
    changed["p2"] = many["p2"]
    for damaged in ("[]", "{", '{"p3": 3}', json.dumps({key: [None, None] for key in changed})):
        index.write_text(damaged)
        assert texts() == changed
    stored = json.loads(index.read_text())
    for number, value in enumerate((3, ["prompt"], [["prompt", 3]], None)):
        stored[f"p{3 + number}"][1] = value
    index.write_text(json.dumps(stored))
    assert texts() == changed
