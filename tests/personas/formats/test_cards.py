"""Character cards: what is theirs beyond the rules of every format, and pictures and zip files that lie."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import png
import pytest

from personas.compiled import Options
from personas.errors import PersonaError
from personas.exporting import export
from personas.files.home import open_home
from personas.formats.card import read, read_charx, read_png
from personas.formats.types import Unreadable
from personas.importing import Importer, read_path
from personas.library.folders import Library
from personas.library_store import LibraryStore
from personas.store import Store
from tests.personas.formats.examples.card import (
    DATA,
    SILLY,
    V1,
    V3,
    archive,
    as_json,
    chunk,
    encoded,
    picture,
)


def bring_in(store: Store, tmp_path: Path, content: bytes, name: str = "card.json") -> str:
    (tmp_path / name).write_bytes(content)
    found = read_path(tmp_path / name)
    assert found is not None
    return Importer(store).add(found)[0].id


def card_of(store: Store, persona_id: str, **more: Any) -> dict[str, Any]:
    (content,) = export(store, persona_id, "card", **more).files.values()
    card: dict[str, Any] = json.loads(content)
    return card


def prompt_of(store: Store, persona_id: str) -> str:
    return Options().assemble(store.get(persona_id), Library(store.home)).text


@pytest.mark.parametrize("card", [V1, SILLY, V3], ids=["V1", "V2", "V3"])
def test_every_field_of_a_card_comes_back(store: Store, tmp_path: Path, card: dict[str, Any]) -> None:
    written = card_of(store, bring_in(store, tmp_path, as_json(card)))
    assert (written["spec"], written["spec_version"]) == ("chara_card_v2", "2.0")
    data = card.get("data", card)
    assets = [{**one, "uri": one["uri"] if len(one["uri"]) < 1000 else ""} for one in data.get("assets", ())]
    expected = json.loads(json.dumps(data | ({"assets": assets} if assets else {})).replace("\\r", ""))
    assert {key: written["data"][key] for key in expected} == expected
    beside = {key: value for key, value in card.items() if key not in ("spec", "spec_version", "data")}
    assert "data" not in card or {key: written[key] for key in beside} == beside


def test_the_prompt_has_each_text_in_its_place_and_none_that_is_not_for_it(
    store: Store, tmp_path: Path
) -> None:
    said = prompt_of(store, bring_in(store, tmp_path, as_json(SILLY)))
    places = [
        said.index(text)
        for text in (
            *(DATA["system_prompt"], DATA["description"], DATA["personality"], DATA["scenario"]),
            *("The river comes first.", "The glade is safe.", "<START>", DATA["post_history_instructions"]),
        )
    ]
    assert places == sorted(places) and said.rstrip().endswith(DATA["post_history_instructions"])
    for text in (DATA["creator_notes"], DATA["first_mes"], "Wolves are asleep.", "never forget"):
        assert text not in said


def test_what_was_edited_since_is_exported_edited(store: Store, tmp_path: Path) -> None:
    library, persona_id = LibraryStore(store), bring_in(store, tmp_path, as_json(SILLY))
    names = {part.name.removeprefix(f"{persona_id}-"): part.name for part in store.get(persona_id).parts}
    library.update("part", names["scenario"], {"content": "A city."})
    library.rename("part", names["scenario"], "downtown")
    library.update("part", names["lore-1-glade-a-b"], {"content": "The glade burns."})
    library.unlink(persona_id, "part", names["lore-3-river"])
    library.unlink(persona_id, "part", names["personality"])
    library.create("part", "rule", {"type": "goal", "content": "Win."})
    library.create("guardrail", "no-law", {"content": "No legal advice.", "severity": "high"})
    library.link(persona_id, "part", "rule")
    library.link(persona_id, "guardrail", "no-law")
    data = card_of(store, persona_id)["data"]
    assert (data["scenario"], data["personality"], data["mes_example"]) == (
        "A city.",
        "",
        DATA["mes_example"],
    )
    entries = [entry["content"] for entry in data["character_book"]["entries"]]
    assert entries == ["The glade burns.", "Wolves are asleep."]
    assert data["system_prompt"] == (
        f"{DATA['system_prompt']}\n\nWin.\n\n## Guardrails\n\n- (high) No legal advice.\n"
    )
    ours = data["extensions"]["persona-editor"]
    assert [one["name"] for one in ours["documents"]] == ["rule", "no-law"]
    assert ours["system_prompt"] == DATA["system_prompt"]
    assert DATA["extensions"].items() <= data["extensions"].items()

    library.create("part", "downtown-2", {"type": "context", "content": "A village."})
    data = card_of(store, persona_id, overrides={"context": "downtown-2"})["data"]
    assert (data["scenario"], data["character_book"]["entries"][0]["content"]) == ("", "Wolves are asleep.")
    assert "A village." in data["system_prompt"]


def test_a_persona_of_ours_comes_back_from_a_card_with_its_test_inputs(tmp_path: Path) -> None:
    store = Store(open_home(tmp_path / "home"))  # with the examples
    written = export(store, "tove", "card")
    card = json.loads(written.files["tove.json"])
    assert card["data"]["system_prompt"] == prompt_of(store, "tove")
    left_out = {note.field for note in written.report if note.went_to is None}
    assert not left_out, "what a card does not have is under extensions"
    again = bring_in(store, tmp_path, written.files["tove.json"])
    tove, persona = store.get("tove"), store.get(again)
    assert again == "tove-2" and persona.system_prompt == card["data"]["system_prompt"]
    for key in ("name", "description", "tags", "summary", "model", "test_inputs"):
        assert getattr(persona, key) == getattr(tove, key)
    assert card_of(store, again)["data"]["system_prompt"] == card["data"]["system_prompt"]


def test_a_picture_keeps_all_but_the_two_texts(store: Store, tmp_path: Path) -> None:
    persona_id = bring_in(store, tmp_path, picture(Chara=encoded(SILLY), ccv3=encoded(V3)), "card.png")
    image = picture(CHARA=b"old", other=b"text", ccv3=b"older", chara=b"oldest")
    (content,) = export(store, persona_id, "card-png", image=image).files.values()
    before, after = ([*png.Reader(bytes=one).chunks()] for one in (image, content))
    others = [one for one in before if not one[1].lower().startswith((b"chara\0", b"ccv3\0"))]
    assert len(before) == len(others) + 3 and after == [*others[:-1], *after[-3:-1], others[-1]]
    assert content.endswith(b"IEND\xaeB\x60\x82what follows the end")
    texts = dict(one[1].split(b"\0", 1) for one in after[-3:-1])
    v2, v3 = (json.loads(base64.b64decode(texts[key])) for key in (b"chara", b"ccv3"))
    assert (v2["spec"], v3["spec"], v3["spec_version"]) == ("chara_card_v2", "chara_card_v3", "3.0")
    assert v2["data"] == v3["data"] and v2["data"]["nickname"] == "Sera", "the V3 card was read"
    assert v2 == card_of(store, persona_id)


def test_a_picture_that_cannot_hold_a_card_is_refused(store: Store) -> None:
    store.create("It")
    whole = picture()
    for image, said in (
        (None, "--image"),
        (b"GIF89a", "not a PNG"),
        (whole[:-40], "cut off"),
        (whole[: whole.index(b"IEND") - 4], "no end"),
    ):
        with pytest.raises(Unreadable, match=said):
            export(store, "it", "card-png", image=image)


HEAD = picture()[:33]  # signature and IHDR
TEXT = chunk(b"tEXt", b"chara\0" + encoded(V1))


def test_a_picture_that_lies_is_refused() -> None:
    for content, said in (
        (b"\x89PNG\r\n", "not a PNG"),
        (picture(), "no character card"),
        (HEAD + struct.pack(">I", 0xFFFFFFFF) + b"tEXtchara\0e30=", "cut off"),
        (HEAD + struct.pack(">I", 3_000_000_000) + b"zTXtchara\0\0x", "cut off"),
        (HEAD + TEXT[:-1] + b"\0", "checksum"),
        (HEAD + chunk(b"aaaa", b"") * 100_000, "chunks"),
        (picture(chara=b"not base64!"), "not base64"),
        (picture(chara=b"A"), "not base64"),
        (picture(chara=base64.b64encode(json.dumps(V1).encode("utf-16"))), "UTF-16"),
        (picture(chara=base64.b64encode('{"name": "Zoë"}'.encode("latin-1"))), "not UTF-8"),
        (picture(chara=base64.b64encode(b"[" * 200_000)), "too deeply"),
        (picture(chara=base64.b64encode(b"[]")), "a card is an object"),
        (picture(chara=base64.b64encode(b"{}")), "neither a name nor a text"),
    ):
        with pytest.raises(Unreadable, match=said):
            read_png(content, "cards/it.png")


def test_a_card_is_read_from_a_picture_that_is_cut_off_behind_it() -> None:
    spaced = b"\n ".join(encoded(V1)[at : at + 76] for at in range(0, 400, 76)).rstrip(b"=")
    for content in (HEAD + TEXT, HEAD + TEXT + b"\xff\xff\xff\xffIDAT", picture(cHaRa=spaced)):
        (persona,) = read_png(content, "cards/it.png").personas
        assert persona.name == "Ada"


def test_zip_files_that_lie_are_refused_and_nothing_is_unpacked(tmp_path: Path) -> None:
    whole = archive(as_json(V3))
    without = io.BytesIO()
    with zipfile.ZipFile(without, "w") as file:
        file.writestr("../card.json", as_json(V3))
    locked = bytearray(whole)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[whole.index(mark) + at] |= 1  # says that it is encrypted
    for content, said in (
        (b"PK\3\4" + b"\0" * 100, "cannot be read"),
        (whole[:-30], "cannot be read"),
        (bytes(locked), "cannot be read"),
        (without.getvalue(), "no card.json"),
        (archive(b" " * (65 * 1024 * 1024)), "larger than 64 MB"),
        (archive(b"{" * 100_000), "not JSON"),
        (whole + b"PK\1\2" * 10_001, "files"),
    ):
        with pytest.raises(Unreadable, match=said):
            read_charx(content, "it.charx")
    assert not list(tmp_path.rglob("outside.txt"))


def test_what_a_person_wrote_into_the_kept_table_stops_no_export(store: Store, tmp_path: Path) -> None:
    persona_id = bring_in(store, tmp_path, as_json(V1))
    for line in (
        "beside_data = 1\ncopies = 2\ntags = 3\nname = 4\nextensions = 5\ncharacter_book = 6",
        "character_book = { entries = [1, {}, { keys = 2 }] }\ncreation_date = 2024-01-01",
    ):
        path = store.home.personas / f"{persona_id}.toml"
        path.write_text(path.read_text().partition("[x.card]")[0] + f"[x.card]\n{line}\n")
        assert card_of(store, persona_id)["data"]["name"] == "Ada"


def test_a_file_that_is_no_card_is_refused_and_nothing_is_written(store: Store, tmp_path: Path) -> None:
    before = store.ids()
    with pytest.raises(PersonaError, match="neither a name nor a text"):
        read(b'{"spec": "chara_card_v2", "data": {"name": 5}}', "it.json")
    hurt = json.dumps({**V1, "extensions": {"persona-editor": {"test_inputs": [{"content": 5}]}}}).encode()
    with pytest.raises(PersonaError, match="cannot become a persona"):
        bring_in(store, tmp_path, hurt)
    assert store.ids() == before
