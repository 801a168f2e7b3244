"""`from personas import load`: a persona as another program takes it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from personas import load
from personas.errors import BrokenFile, UnknownPersona
from personas.files.home import Home
from personas.persona import ModelSettings


def test_a_persona_is_loaded_with_its_effective_prompt_and_its_settings(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.library / "parts").mkdir(parents=True)
    (home.library / "parts" / "warm.toml").write_text('type = "tone"\ncontent = "Be warm."\n')
    (home.personas / "p.toml").write_text(
        'name = "P"\nsystem_prompt = "You are P."\nmodel = { name = "m", max_tokens = 9 }\nparts = [{ name = "warm" }]\n'
    )
    (home.personas / "broken.toml").write_text("name = \n")
    merged = "<<<<<<< HEAD\nBe A.\n=======\nBe B.\n>>>>>>> theirs\n"
    (home.personas / "merged.toml").write_text(f'system_prompt = """\n{merged}"""\n')
    persona = load("p", home.root)
    assert (persona.name, persona.system_prompt) == ("P", "You are P.")
    assert persona.prompt == "You are P.\n\nBe warm.\n"
    assert persona.model == ModelSettings(name="m", max_tokens=9)
    monkeypatch.setenv("PERSONA_HOME", str(home.root))
    assert load("p") == persona == load("p", str(home.root))
    with pytest.raises(UnknownPersona, match="There is no persona 'q'"):
        load("q")
    with pytest.raises(BrokenFile):
        load("broken")
    with pytest.raises(BrokenFile, match="merge conflict"):
        load("merged")


def test_importing_the_package_loads_none_of_it() -> None:
    code = "import sys, personas; print([name for name in sys.modules if name.startswith('personas.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"[]\n"
