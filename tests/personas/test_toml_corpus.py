"""The counting command over a folder of documents, here hand-written ones with every feature of TOML."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.toml_corpus import main

DOCUMENTS = {
    "inline": 'test_inputs = [{ id = "a", content = "x" }, {id="b"}]\npoint = {x = 1, y.z = [2]}\n',
    "inline over lines": "tags = [\n  # first\n  'a', # one\n  'b' # two\n]\ninputs = [\n  { id = 1 },\n]\n",
    "dotted": 'model.name = "x"\nmodel.deep."odd key".z = 1.5 # why\n"a.b".c = true\n',
    "super tables later": "[a.b.c]\nx = 1\n# above a\n[a]\ny = 2\n[a.b]\nz = 3\n",
    "out of order": "[[a]]\nx = 1\n[b]\n[[a]]\n[b.c]\ny = 2\n[a.d]\n",
    "nested arrays of tables": "[[arcs]]\n[arcs.parts.x]\no = 1\n[[arcs.stage]]\nn = 1\n[[arcs.stage]]\n[[arcs]]\n",
    "strings": 'a = """\none \\\n  two\\u00e9\n"""\nb = \'\'\'\nraw \\ \'\' text\'\'\'\nc = \'x\'\nd = """"quoted"""""\n',
    "others": "a = 0xFF\nb = -inf\nc = nan\nd = 1979-05-27 07:32:00Z\ne = 07:32:00\nf = 1979-05-27\ng = false\n",
    "crlf": '# c\r\na = """\r\nx\r\ny"""\r\n\r\n[[t]]\r\nb = 1 # c\r\n',
    "no final newline": "a = 1\n[t]\nb = 2 # end",
    "byte order mark": "\ufeff[t]\nb = 2\n",
    "nothing": "",
    "a comment": "# only this",
}


def test_no_edit_of_any_document_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in DOCUMENTS.items():
        (tmp_path / f"{name}.toml").write_bytes(text.encode())
    (tmp_path / "broken.toml").write_bytes(b"a = 1\na = 2\n")
    (tmp_path / "latin.toml").write_bytes(b'a = "\xe9"\n')
    exit_code = main(tmp_path)
    printed = capsys.readouterr().out
    assert f"{len(DOCUMENTS)} documents accepted by tomllib, 1 refused by it, 1 not UTF-8" in printed
    assert printed.endswith(" edits, 0 refusals\n")
    assert exit_code == 0
