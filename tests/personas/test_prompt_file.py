"""A prompt in a file of its own: edits leave all else byte for byte, versions cover both files, no path leads out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.outputs.variant import variant_of
from agent.search.pattern import Pattern
from agent.search.replace import preview as preview_replacing
from agent.search.replace import write as write_replacing
from personas.changes import AddTestInput, EditPrompt, ReplaceText, SetDescription, SetName, SetPrompt
from personas.compiled import compile_persona
from personas.conflict_marks import require_kept
from personas.dry_run_store import DryRunStore
from personas.errors import Conflict, EditRefused, InvalidValue, OutsideHome, PersonaError
from personas.files.frontmatter import frontmatter_span
from personas.files.home import Home
from personas.persona import Persona
from personas.prompt_file import prompt_of, with_prompt
from personas.proposals import ProposalStore, keep
from personas.store import Store
from personas.text_index import texts_of_all
from personas.versions.authorship import USER, Author

TOML = '# mine\nname = "Billing"  # shown\nsystem_prompt_file = "prompts/billing.md"\nother = 1\n'
HEAD = "---\nname: billing # a comment\ntools:   [Read,  Write]\nmodel: >\n  a\n---\n"
BODY = "\nYou are billing.\nOne.\nTwo.\nThree.\n"
RUN = Author("agent", "s1", "r1")


@dataclass
class Two:
    """A persona with both its files."""

    store: Store
    toml: Path
    md: Path

    def change(self, what, by=USER, **named) -> Persona:
        return self.store.change("billing", what, revision=None, by=by, own_unit=True, **named)

    @property
    def persona(self) -> Persona:
        return self.store.get("billing")

    @property
    def bytes(self) -> tuple[bytes, bytes | None]:
        return self.toml.read_bytes(), self.md.read_bytes() if self.md.exists() else None

    def write(self, body: str = BODY, head: str = HEAD) -> None:
        self.md.write_bytes((head + body).encode())


@pytest.fixture
def two(home: Home, store: Store) -> Two:
    found = Two(store, home.personas / "billing.toml", home.root / "prompts" / "billing.md")
    found.md.parent.mkdir()
    found.toml.write_text(TOML)
    found.write()
    return found


# -- byte for byte --------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [USER, RUN], ids=["by hand", "by the agent"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("head", [HEAD, "", "---\n---\n", "---\nnever closed\n"])
def test_an_edit_changes_the_lines_of_the_prompt_alone(
    two: Two, head: str, end: str, bom: bytes, by: Author
) -> None:
    def stored(body: str) -> bytes:
        return bom + (head + body).replace("\n", end).encode()

    two.md.write_bytes(stored(BODY))
    two.md.chmod(0o640)
    open_head = head if "never" in head else ""
    assert two.persona.system_prompt == open_head + BODY
    assert two.change(EditPrompt("Two.", "2.\nand a half"), by).system_prompt == two.persona.system_prompt
    assert two.md.read_bytes() == stored(BODY.replace("Two.", "2.\nand a half"))
    two.change(SetPrompt(f"{open_head}All new\n"), by)
    assert two.md.read_bytes() == stored("All new\n")
    assert two.md.stat().st_mode & 0o777 == 0o640 and two.toml.read_text() == TOML
    two.change(SetPrompt(open_head + BODY), by)
    assert two.md.read_bytes() == stored(BODY)


@settings(max_examples=200)
@given(
    body=st.text("ab-\r\n\t \u2028é", max_size=40),
    prompt=st.text("ab-\n\t \u2028é", max_size=40),
    head=st.sampled_from([HEAD, "", "---\r\na: 1\r\n---\r\n", "---\na: 1\n---"]),
)
def test_what_is_written_is_read_again_and_frontmatter_stays(body: str, prompt: str, head: str) -> None:
    before = (head + body).encode()
    try:
        after = with_prompt(before, prompt, "a.md")
    except InvalidValue as error:  # only what would begin a frontmatter
        assert prompt.startswith("---") and "frontmatter" in str(error)
        return
    assert prompt_of(after) == prompt
    kept = (head + body)[: frontmatter_span(head + body)[2]]
    assert after.startswith(kept.encode()) and with_prompt(after, prompt, "a.md") == after


def test_lines_that_stay_keep_their_own_line_ends() -> None:
    assert with_prompt(b"a\r\nb\nc\r\nd", "a\nb\nnew\nc\nd", "a.md") == b"a\r\nb\nnew\r\nc\r\nd"


def test_what_would_be_read_as_frontmatter_is_refused(two: Two) -> None:
    two.write("Hello.\n", head="")
    before = two.bytes
    with pytest.raises(InvalidValue, match=r"billing\.md"):
        two.change(SetPrompt("---\na: 1\n---\nHello.\n"))
    assert two.bytes == before
    two.write()
    two.change(SetPrompt("---\na: 1\n---\nbelow another one\n"))
    assert two.md.read_text() == f"{HEAD}---\na: 1\n---\nbelow another one\n"


# -- versions -------------------------------------------------------------------------------------------


def test_versions_undo_and_diff_cover_both_files_as_one(two: Two) -> None:
    store = two.store
    before = two.bytes
    two.change(EditPrompt("One.", "1."), RUN)
    two.change(SetName("Bills"), RUN)
    assert [(one.number, one.by.kind) for one in store.log("billing")] == [(2, "agent"), (1, "agent")]
    diff = store.diff("billing", 0).diff
    assert "+++ billing.toml (now)" in diff and "+++ prompts/billing.md (now)" in diff
    assert {'+name = "Bills"  # shown', "-One.", "+1."} <= {*diff.split("\n")}
    assert "persona-bundle" not in store.version_text("billing", 1) + store.text_before(
        "billing", store.log("billing")[0]
    )
    assert store.at_version("billing", 0).system_prompt == BODY
    after = two.bytes
    undone = store.undo("billing")  # both are one run
    assert two.bytes == before and undone.persona.system_prompt == BODY
    store.redo("billing")
    assert two.bytes == after
    assert store.restore("billing", 1, by=USER).name == "Billing" and "1." in two.persona.system_prompt
    store.name_version("billing", "good")
    two.change(SetPrompt("Bad."))
    store.restore("billing", "good", by=USER)
    assert "1." in two.md.read_text()


def test_what_was_written_since_stays_with_an_undo_and_meets_in_a_conflict(two: Two) -> None:
    two.change(EditPrompt("One.", "1."), RUN)
    two.write(BODY.replace("One.", "1.").replace("Three.", "3."), head=HEAD.replace("a comment", "another"))
    two.store.undo("billing", only="agent")
    assert two.md.read_text() == HEAD.replace("a comment", "another") + BODY.replace("Three.", "3.")
    two.change(EditPrompt("Two.", "2."), RUN)
    two.write(BODY.replace("Two.", "II."))
    before = two.bytes
    with pytest.raises(Conflict, match="in the same place"):
        two.store.undo("billing", only="agent")
    assert two.bytes == before


def test_a_change_that_was_meant_for_another_text_of_either_file_is_a_conflict(two: Two) -> None:
    for path in (two.toml, two.md):
        revision = two.persona.revision
        path.write_text(path.read_text() + "# more\n")
        with pytest.raises(Conflict) as caught:
            two.store.change("billing", SetPrompt("Mine."), revision=revision, by=USER)
        assert "# more" in caught.value.theirs
    assert "Mine." not in two.md.read_text()


def test_a_change_of_either_file_from_outside_is_a_version(two: Two) -> None:
    store = two.store
    two.change(SetDescription("d"))
    two.write("By vim.\n")
    assert [one.by.kind for one in store.log("billing")] == ["external", "user"]
    two.toml.write_text(two.toml.read_text() + "# by vim\n")
    two.write("Both.\n")
    assert [one.by.kind for one in store.log("billing")] == ["external", "external", "user"]
    two.change(SetPrompt("Mine.\n"))
    store.undo("billing")
    assert two.persona.system_prompt == "Both.\n"
    store.undo("billing", version=3)  # one of outside is undone by its number
    assert two.persona.system_prompt == "By vim.\n" and "# by vim" not in two.toml.read_text()


def test_both_files_change_at_once_or_neither(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    two.change(SetName("Then"))
    two.change(SetPrompt("Then.\n"))
    before = two.bytes
    real, renamed = os.replace, list[str]()

    def fail_second(source, target) -> None:
        if Path(target) in (two.toml, two.md):
            renamed.append(Path(target).name)
            if len(renamed) == 2:
                raise OSError(28, "full")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_second)
        with pytest.raises(PersonaError, match="full"):
            two.store.restore("billing", 0, by=USER)
    assert renamed[:2] == ["billing.toml", "billing.md"] and two.bytes == before
    two.store.restore("billing", 0, by=USER)
    assert two.bytes == (TOML.encode(), (HEAD + BODY).encode())


def test_counts_are_those_of_what_a_version_did_in_both_files(two: Two) -> None:
    store = two.store
    for body, counts in ((f"X\n{BODY}", " +1 -0"), (f"X\nY\n{BODY}", ""), (BODY, "")):
        store.change("billing", SetPrompt(body), revision=None, by=USER)
        (version,) = store.log("billing")
        assert version.reason == f"system prompt{counts}"
        diff = store.diff("billing", 0, 1)
        assert (version.added, version.removed) == (diff.added, diff.removed)
    store.keep("billing", SetPrompt(f"X\nY\n{BODY}"), by=USER, reason="undone")
    assert [(one.added, one.removed) for one in store.log("billing")] == [(2, 0), (0, 0)]
    two.change(ReplaceText(TOML.replace("Billing", "Bills") + "more = 1\n"))
    two.change(SetPrompt("New.\n"), RUN)
    store.undo("billing")
    store.redo("billing")
    for one in store.log("billing")[:3]:
        diff = store.diff("billing", one.number - 1, one.number)
        assert (one.added, one.removed) == (diff.added, diff.removed) != (0, 0)


# -- a file that is missing, or elsewhere -----------------------------------------------------------------


def test_a_missing_file_breaks_the_persona_and_can_be_written_again(two: Two) -> None:
    two.change(EditPrompt("One.", "1."))
    whole = two.bytes
    two.md.unlink()
    two.md.parent.rmdir()
    persona = two.persona
    assert persona.error is not None and "prompts/billing.md is missing" in persona.error.message
    assert persona.lacks_prompt_file and persona.name == "Billing" and persona.system_prompt == ""
    assert [one.error is None for one in two.store.list()] == [False]
    two.change(SetName("Billing"))  # what is there goes on
    two.store.restore("billing", 1, by=USER)
    assert two.bytes == whole
    two.md.unlink()
    assert two.change(SetPrompt("Typed.\n")).error is None
    assert two.md.read_text() == f"{HEAD}Typed.\n"
    with pytest.raises(Conflict, match="break"):  # no undo takes the person's file away
        two.store.undo("billing")


def test_what_is_typed_where_a_file_is_gone_goes_into_what_it_held_last(two: Two) -> None:
    stored = b"\xef\xbb\xbf" + (HEAD + BODY).replace("\n", "\r\n").encode()
    two.md.unlink()
    assert two.change(SetPrompt("Nothing is known.\n")).error is None
    assert two.md.read_bytes() == b"Nothing is known.\n"
    two.md.write_bytes(stored)
    two.change(EditPrompt("One.", "1."))
    two.md.unlink()
    two.change(SetName("Bills"))  # a version without the file
    two.change(SetPrompt(f"My {BODY}"))
    assert two.md.read_bytes() == stored.replace(b"\r\n\r\nYou", b"\r\nMy \r\nYou")
    two.md.unlink()
    two.change(SetPrompt(BODY))
    assert two.md.read_bytes() == stored


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("../outside.md", "inside the home"),
        ("/etc/hosts.md", "inside the home"),
        ("prompts/../../outside.md", "inside the home"),
        ("a\\\\b.md", "inside the home"),
        ("a\\u0000b.md", "inside the home"),
        (".git/hooks/post-commit", "a text"),
        ("", "a text"),
        ("prompts/linked.md", "not a text file in the home"),
        ("linked/outside.md", "not a text file in the home"),
        ("prompts/folder.md", "not a text file in the home"),
        ("prompts/hook.md", "not a text file in the home"),
        ("skills/a/SKILL.md", "not a text file in the home"),
        ("library/skills/a/SKILL.md", "the program's own"),
        ("./Library//skills/a/SKILL.md", "the program's own"),
        ("state/new.md", "the program's own"),
    ],
)
def test_a_path_or_link_to_no_text_of_the_home_is_refused(two: Two, home: Home, named: str, why: str) -> None:
    outside = home.root.parent / "outside.md"
    outside.write_text("secret")
    (home.root / "prompts" / "linked.md").symlink_to(outside)
    (home.root / "linked").symlink_to(home.root.parent)
    (home.root / "prompts" / "folder.md").mkdir()
    (home.root / "prompts" / "hook.md").symlink_to(hook := home.root / "hook")
    (skill := home.library / "skills" / "a" / "SKILL.md").parent.mkdir(parents=True)
    (home.root / "skills").symlink_to(home.library / "skills")
    for path in (hook, skill):
        path.write_text("secret")
    two.toml.write_text(TOML.replace("prompts/billing.md", named))
    for persona in (two.persona, *two.store.list()):
        assert persona.error is not None and why in persona.error.message
        assert persona.system_prompt == "" and persona.name == "Billing"
    with pytest.raises((EditRefused, OutsideHome)):
        two.change(SetPrompt("Out."))
    assert {path.read_text() for path in (outside, hook, skill)} == {
        "secret"
    } and two.persona.error is not None
    two.change(ReplaceText(TOML))
    assert two.persona.error is None


def test_a_link_inside_the_home_is_followed(two: Two, home: Home) -> None:
    real = home.root / ".claude" / "agents" / "b.md"
    real.parent.mkdir(parents=True)
    two.md.rename(real)
    two.md.symlink_to(real)
    two.change(EditPrompt("One.", "1."))
    assert two.md.is_symlink() and "1." in real.read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TOML + 'system_prompt = "too"\n', "both there"),
        (TOML.replace('"prompts/billing.md"', "7"), "must be text"),
    ],
)
def test_both_keys_at_once_or_no_text_are_a_broken_file(two: Two, text: str, why: str) -> None:
    two.toml.write_text(text)
    assert two.persona.error is not None and why in two.persona.error.message
    assert two.persona.error.line == 3 and not two.persona.lacks_prompt_file
    with pytest.raises(EditRefused, match="names another"):
        two.change(SetPrompt("Which?"))
    assert two.md.read_text() == HEAD + BODY


def test_a_file_that_is_not_utf_8_is_broken_and_left(two: Two) -> None:
    two.md.write_bytes(b"\xff\xfe")
    assert two.persona.error is not None and "billing.md is not UTF-8" in two.persona.error.message
    with pytest.raises(PersonaError, match="UTF-8"):
        two.change(SetPrompt("x"))
    assert two.md.read_bytes() == b"\xff\xfe"


def test_going_over_to_another_file_writes_over_nothing(two: Two, home: Home) -> None:
    other = home.root / "other.md"
    other.write_text("Other.\n")
    two.change(ReplaceText(TOML.replace("prompts/billing.md", "other.md")))
    assert two.persona.system_prompt == "Other.\n"
    two.write("Changed by nobody's leave.\n")
    two.store.undo("billing")
    assert two.persona.system_prompt == "Changed by nobody's leave.\n" and other.read_text() == "Other.\n"
    two.change(ReplaceText('name = "Billing"\nsystem_prompt = "Own."\n'))
    two.store.undo("billing")
    assert two.toml.read_text() == TOML and "leave" in two.persona.system_prompt


# -- everything that reads or changes a prompt ------------------------------------------------------------


def test_a_deleted_persona_leaves_its_prompts_file_and_comes_back_to_it(two: Two) -> None:
    two.change(EditPrompt("One.", "1."))
    version = two.store.delete("billing", by=USER)
    assert not two.toml.exists() and "1." in two.md.read_text()
    two.write("Mine since.\n")
    assert two.store.restore("billing", version or 0, by=USER).system_prompt == "Mine since.\n"
    two.store.delete("billing", by=USER)
    two.md.unlink()
    assert two.store.restore("billing", 1, by=USER).error is None
    assert "1." in two.md.read_text()


def test_a_copy_has_the_prompt_itself(two: Two) -> None:
    copy = two.store.create("Copy", from_id="billing")
    assert copy.system_prompt == BODY and copy.system_prompt_file == "" and copy.error is None
    assert "# mine" in two.store.text("copy") and "other = 1" in two.store.text("copy")
    assert two.store.get("billing").system_prompt_file


def test_a_proposal_covers_both_files(two: Two) -> None:
    proposals = ProposalStore(two.store, "billing", RUN)
    before = two.bytes
    proposals.change("billing", EditPrompt("One.", "1."), revision=None, by=RUN)
    assert "1." in proposals.get("billing").system_prompt and two.bytes == before
    again = ProposalStore(two.store, "billing", RUN)
    again.change("billing", SetName("Bills"), revision=None, by=RUN)
    two.change(EditPrompt("Three.", "3."))
    keep(two.store, "billing", again.name or "")
    assert two.persona.system_prompt == BODY.replace("One.", "1.").replace("Three.", "3.")
    assert two.persona.name == "Bills" and two.md.read_text().startswith(HEAD)


def test_replacing_finds_the_prompt_and_changes_both_files_as_one_version(two: Two) -> None:
    two.change(AddTestInput("Two and Two.", id="t"))
    assert dict(texts_of_all(two.store).__next__().texts)["prompt"] == BODY
    found, left = preview_replacing(two.store, Pattern("Two"), "Due", ["billing"])
    assert [one.count for one in found] == [3] and not left and two.persona.system_prompt == BODY
    assert {"-Two.", "+Due."} <= {*found[0].diff.split("\n")} and found[0].diff.count("--- ") == 1
    assert write_replacing(two.store, found, "replaced") == (["billing"], [])
    assert two.persona.test_inputs[0].content == "Due and Due." and "Due." in two.md.read_text()
    assert two.store.log("billing")[0].number == 2
    two.store.undo("billing")
    assert two.persona.system_prompt == BODY and two.persona.test_inputs[0].content == "Two and Two."


def test_a_rehearsal_says_what_would_be_and_compiled_texts_follow_the_file(two: Two) -> None:
    rehearsal = DryRunStore(two.store)
    assert "1." in rehearsal.change("billing", EditPrompt("One.", "1.")).system_prompt
    assert two.persona.system_prompt == BODY
    compiled = compile_persona(two.store, two.persona)
    assert "You are billing." in compiled["compiled_detail"] and "tools:" not in compiled["compiled_detail"]
    revision = two.persona.revision
    prompt_hash = variant_of(two.store, two.persona, model=None, fixed=True).prompt_hash
    two.write("Else.\n")
    assert variant_of(two.store, two.persona, model=None).prompt_hash != prompt_hash  # outputs are outdated
    assert variant_of(two.store, two.persona, model=None, version=0).prompt_hash == prompt_hash
    assert two.persona.revision != revision
    assert "Else." in compile_persona(two.store, two.persona)["compiled_detail"]


def test_marks_of_a_merge_in_the_file_are_told_with_its_name(two: Two) -> None:
    two.write("<<<<<<< mine\na\n=======\nb\n>>>>>>> theirs\n")
    persona = two.persona
    assert persona.error is None and persona.note is not None
    assert persona.note.message == "unresolved merge conflict in prompts/billing.md, lines 7 to 11"
    assert persona.system_prompt.startswith("<<<<<<<")
    with pytest.raises(EditRefused, match="Only the owner"):
        require_kept(persona.texts, DryRunStore(two.store).change("billing", SetPrompt("Mine.")).texts)
