"""What is wrong in the settings file: told with its line and what may stand there, and never with a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.config import ConfigError, Loaded, check_values, load_settings

SECRET = "sk-ant-api03-AAAABBBBCCCC"


def read(folder: Path, text: str) -> Loaded:
    path = folder / "config.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return load_settings({"PERSONA_CONFIG": str(path)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# a\n\npanel_seconds = -1\n", "3: panel_seconds must be 0 or more"),
        ("panel_seconds = nan", "1: panel_seconds must be 0 or more"),
        ("max_minutes = inf", "1: max_minutes must be a number that is not infinite"),
        ("reading_rate = -1", "1: reading_rate must be 0 or more"),
        ("\nsent_turns = 0", "2: sent_turns must be above 0"),
        ("\nhistory_turns = 0", "2: sent_turns must be above 0"),
        ("\n'colours' = '256'", "2: colours must be one of auto, 16, none, not '256'"),
        ("mouse = true\ncalm = true", "2: calm must be one of auto, always, never"),
        ("model = 'calm'\nmouse = 1", "2: mouse must be true or false"),
        ("notify_after = 1\nnotify = 'beep'", "2: notify must be one of never, bell, desktop, not 'beep'"),
        (
            "[approval_of]\n\nundo = 'maybe'",
            "3: approval_of.undo must be one of ask, allow, deny, not 'maybe'",
        ),
        ("\n[approval_of]\nundo = 3", "3: approval_of.undo must be one of ask, allow, deny, not 3"),
        (
            "\nmodel = 3\nmouse = 1\n[approval_of]\nundo = 'x'\n",
            "2: model must be text; line 3: mouse must be true or false; "
            "line 5: approval_of.undo must be one of ask, allow, deny, not 'x'",
        ),
        ("x = 1\nmouse = [\n\n", "2: Invalid value, at mouse; mend it or move it away"),
        ('x = """\na\n', "1: Unterminated string, at x; mend it or move it away"),
        ("mouse = true\nmouse = false\n", "2: Cannot overwrite a value, at mouse; mend it or move it away"),
        (
            "mouse = true\n[keys\n",
            "2: Expected ']' at the end of a table declaration; mend it or move it away",
        ),
        ("mouse = true\n# \udcff\n", "2: this is not UTF-8 text; save the file as UTF-8"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert str(refused.value) == f"{tmp_path / 'config.toml'}:{said}"


@pytest.mark.parametrize(
    "url", ["not a url", "ftp://x", "https://", "http://me:pass@x", "https://x/?key=pass"]
)
def test_a_server_to_which_no_request_can_go_is_refused_in_the_file_and_before_it_is_stored(
    url: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"config\.toml:2: base_url must be the address") as refused:
        read(tmp_path, f'\nbase_url = "{url}"\n')
    with pytest.raises(ConfigError, match="base_url must be the address"):
        check_values({"base_url": url})
    assert "pass@" not in str(refused.value) and "key=" not in str(refused.value)
    assert read(tmp_path, 'base_url = " http://127.0.0.1:80/v1"\n').settings.base_url


def test_a_key_in_the_file_is_not_shown_but_told_where_it_belongs(tmp_path: Path) -> None:
    (said,) = read(tmp_path, f'api_key_command = "x"\napi_key = "{SECRET}"\n').warnings
    assert said.startswith(f"{tmp_path / 'config.toml'}:2: a key does not stand in this file, so api_key is")
    assert "api_key_env" in said and SECRET not in said
    with pytest.raises(
        ConfigError, match=r"config\.toml:1: api_key_env must be the name of an env"
    ) as refused:
        read(tmp_path, f'api_key_env = "{SECRET}"\n')
    assert SECRET not in str(refused.value)


def test_what_is_odd_is_told_on_its_own_line_whatever_begins_or_reads_alike(tmp_path: Path) -> None:
    text = (
        'model = """\nodd = 1\n"""\noddly.a = 1\n"odd" = 1\n[keys]\noutput.nowhere = "f9"\n"pane.no" = "f8"\n'
    )
    lines = [said.removeprefix(f"{tmp_path / 'config.toml'}:") for said in read(tmp_path, text).warnings]
    assert [line.split(":")[0] for line in lines] == ["4", "5", "7", "8"]
