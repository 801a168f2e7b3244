"""Several programs on one home: each keeps its own unsaved text, and every one of them is given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.files.home import Home
from tests.support.drafts import drafts, leave_behind
from tests.support.program import make_store, program
from tui.drafts.draft import PROMPT

TEXT = "first line\nsecond line\nthird line\n"


pytestmark = pytest.mark.usefixtures("quick_typing")


def on_disk(home: Home) -> list[str]:
    return sorted(draft.text for draft in drafts(home))


async def test_texts_of_two_programs_that_were_killed_are_merged_where_they_do_not_touch(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    leave_behind(store.home, PROMPT, TEXT, TEXT.replace("first", "1st"))
    leave_behind(store.home, PROMPT, TEXT, TEXT.replace("third", "3rd"))
    async with program(store) as p:
        await p.until(lambda: p.on_disk("one") == "1st line\nsecond line\n3rd line\n")
        await p.until(lambda: on_disk(store.home) == [] and p.state == "saved")
        assert p.prompt.raw == p.on_disk("one")


async def test_of_texts_that_touch_one_is_shown_and_the_other_kept_as_a_version(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    leave_behind(store.home, PROMPT, TEXT, TEXT.replace("first", "1st"))
    leave_behind(store.home, PROMPT, TEXT, TEXT.replace("first", "One"))
    async with program(store) as p:
        await p.until(lambda: on_disk(store.home) == [])
        await p.notified("kept as a version")
        kept = [store.version_text("one", version.number) for version in store.log("one")]
        everything = [*kept, p.on_disk("one")]
        assert any("1st line" in text for text in everything)
        assert any("One line" in text for text in everything)


async def test_test_inputs_and_settings_of_two_programs_are_all_given_back(tmp_path: Path) -> None:
    file = 'name = "One"\n[[test_inputs]]\nid = "sum"\ncontent = "What?"\n'
    store = make_store(tmp_path, {"one": file})
    for text in ("Mine?", "Yours?"):
        leave_behind(store.home, "input:sum", "What?", text)
    for text in ("a", "b"):
        leave_behind(store.home, "field:description", "", text)
    async with program(store) as p:
        await p.until(lambda: on_disk(store.home) == [])
        contents = sorted(test_input.content for test_input in store.get("one").test_inputs)
        assert contents == ["Mine?", "Yours?"]
        kept = "".join(store.version_text("one", version.number) for version in store.log("one"))
        for value in ("a", "b"):
            assert f'description = "{value}"' in kept + store.text("one")
        assert p.state == "saved"
