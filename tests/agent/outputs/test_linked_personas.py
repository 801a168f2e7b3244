"""A persona that links documents of the library is run with what all of it comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.outputs.bisect_run import Bisected, differing_versions, revert
from agent.outputs.output_log import make_output, outdated
from agent.outputs.variant import EffectivePrompts, digest
from personas.changes import SetPrompt
from personas.errors import PersonaError
from personas.library_store import LibraryStore
from personas.versions.authorship import USER
from tests.agent.outputs.bench import OutputBench

_TEXT = """\
system_prompt = "You are kind."
parts = [{ name = "warm" }, { name = "none" }]
test_inputs = [{ id = "a", content = "Hello?" }]
"""


@pytest.fixture
def bench(tmp_path: Path) -> OutputBench:
    made = OutputBench(tmp_path, _TEXT)
    library = LibraryStore(made.store)
    library.create("part", "warm", {"type": "tone", "content": "Be warm."})
    library.create("guardrail", "legal", {"content": "No law."})
    return made


def test_the_effective_prompt_is_sent_and_decides_what_is_outdated(bench: OutputBench) -> None:
    variant = bench.variant()
    assert variant.request(bench.persona.test_inputs[0]).system == "You are kind.\n\nBe warm.\n"
    output = make_output(variant, bench.persona.test_inputs[0], text="Hi.")
    assert outdated(output, bench.variant(), bench.persona.test_inputs[0]) == []
    LibraryStore(bench.store).update("part", "warm", {"content": "Be brief."})
    assert outdated(output, bench.variant(), bench.persona.test_inputs[0]) == ["prompt"]
    bench.store.undo("part/warm")
    assert outdated(output, bench.variant(), bench.persona.test_inputs[0]) == []
    bench.path.write_text('system_prompt = " as it is "\n')
    assert bench.variant().prompt_hash == digest(" as it is ")


def test_an_earlier_version_has_its_own_links_and_the_parts_as_they_are_now(bench: OutputBench) -> None:
    first = bench.store.fix_version("kind")
    LibraryStore(bench.store).link("kind", "guardrail", "legal")
    LibraryStore(bench.store).update("part", "warm", {"content": "Be brief."})
    assert bench.variant(first).prompt == "You are kind.\n\nBe brief.\n"
    assert bench.variant().prompt.endswith("Be brief.\n\n## Guardrails\n\n- No law.\n")
    assert [one.prompt for one in differing_versions(bench.store, "kind", bench.variant())] == [
        bench.variant(first).prompt,
        bench.variant().prompt,
    ]


def test_a_prompt_for_judging_follows_every_file_it_comes_from(bench: OutputBench) -> None:
    prompts, library = EffectivePrompts(bench.store.home), LibraryStore(bench.store)
    assert prompts.of(bench.persona) == prompts.of(bench.persona) == bench.variant().prompt
    library.create("part", "none", {"type": "goal", "content": "Win."})
    assert prompts.of(bench.persona).endswith("Be warm.\n\nWin.\n")
    library.update("part", "warm", {"content": "Be brief."})
    assert prompts.of(bench.persona).endswith("Be brief.\n\nWin.\n")
    library.link("kind", "guardrail", "legal")
    assert prompts.of(bench.persona) == bench.variant().prompt


def test_a_revert_takes_back_the_change_of_the_prompt_alone(bench: OutputBench) -> None:
    bench.store.change("kind", SetPrompt("You are rude."), revision=None, by=USER, own_unit=True)
    bench.store.fix_version("kind")
    LibraryStore(bench.store).link("kind", "guardrail", "legal")
    prompts = [bench.variant(number).prompt for number in (0, 1, 2)]

    def found(good: int, bad: int) -> Bisected:
        return Bisected(good, bad, True, "", (), prompts[good], prompts[bad], "")

    with pytest.raises(PersonaError, match="changed links, not the prompt"):
        revert(bench.store, "kind", found(1, 2))
    assert revert(bench.store, "kind", found(0, 1))[0].system_prompt == "You are kind."
    assert bench.persona.guardrails == ("legal",)
