"""What is wrong in the settings file: told with its line and what may stand there, and never with a key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.settings.loader import BrokenSettings
from tui.settings.schema import (
    ConfigError,
    LoadedSettings,
    check_values,
    load_settings,
    of_looks,
    unset_setting,
    write_settings,
)

SECRET = "sk-ant-api03-AAAABBBBCCCC"


def read(folder: Path, text: str) -> LoadedSettings:
    path = folder / "config.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return load_settings({"PERSONA_CONFIG": str(path)})


def refusal(folder: Path, text: str) -> str:
    """What is said when something needs settings that the file says wrongly."""
    with pytest.raises(ConfigError) as refused:
        read(folder, text).check()
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# a\n\npanel_seconds = -1\n", "3: panel_seconds must be 0 or more"),
        ("panel_seconds = nan", "1: panel_seconds must be 0 or more"),
        ("max_minutes = inf", "1: max_minutes must be a number that is not infinite"),
        ("reading_rate = -1", "1: reading_rate must be 0 or more"),
        ("\nsent_turns = 0", "2: sent_turns must be above 0"),
        (
            "\nhistory_turns = 0",
            "2: sent_turns must be above 0; line 2: history_turns was renamed to sent_turns; rename it there",
        ),
        ("panel_seconds = 1e400", "1: panel_seconds must be a number that is not infinite"),
        ("notify_after = inf", "1: notify_after must be a number that is not infinite"),
        (f"max_minutes = 1{'0' * 400}", "1: max_minutes must be a number that is not infinite"),
        ("task_pause = -inf", "1: task_pause must be 0 or more"),
        (
            "theme = 'nosuch'",
            "1: theme must be dark, light or the name of a theme, not 'nosuch'; /settings lists the names",
        ),
        (
            "mouse = 'x'\nfoo = 1\ntheme = 'norb'\nbase_url = 'foo'\n[keys]\nnosuch = 'f1'\n",
            "1: mouse must be true or false"
            "; line 3: theme must be dark, light or the name of a theme, not 'norb'; did you mean nord?"
            "; line 4: base_url must be the address of a server, like https://example.org or http://127.0.0.1:8080, "
            "without user, password and query"
            "; line 2: unknown setting 'foo' is ignored"
            "; line 6: [keys] there is no command 'nosuch'; Help lists them",
        ),
        ("\n'colours' = '256'", "2: colours must be one of auto, 16, none, not '256'"),
        ("mouse = true\ncalm = true", "2: calm must be one of auto, always, never"),
        ("model = 'calm'\nmouse = 1", "2: mouse must be true or false"),
        ("notify_after = 1\nnotify = 'beep'", "2: notify must be one of never, bell, desktop, not 'beep'"),
        (
            "[approval_of]\n\nundo = 'maybe'",
            "3: approval_of.undo must be one of ask, allow, deny, not 'maybe'",
        ),
        ("[worker]\ndatabase = 3", "2: worker.database must be text"),
        (
            "mouse = 1\n[worker]\nhost = 'x'",
            "1: mouse must be true or false; line 3: unknown setting 'worker.host' is ignored",
        ),
        ("\n[approval_of]\nundo = 3", "3: approval_of.undo must be one of ask, allow, deny, not 3"),
        (
            "\nmodel = 3\nmouse = 1\n[approval_of]\nundo = 'x'\n",
            "2: model must be text; line 3: mouse must be true or false; "
            "line 5: approval_of.undo must be one of ask, allow, deny, not 'x'",
        ),
        ("x = 1\nmouse = [\n\n", "2: Invalid value, at mouse; fix it or move it away"),
        ('x = """\na\n', "1: Unterminated string, at x; fix it or move it away"),
        ("mouse = true\nmouse = false\n", "2: Cannot overwrite a value, at mouse; fix it or move it away"),
        (
            "mouse = true\n[keys\n",
            "2: Expected ']' at the end of a table declaration; fix it or move it away",
        ),
        ("mouse = true\n# \udcff\n", "2: this is not UTF-8 text; save the file as UTF-8"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, text) == f"{tmp_path / 'config.toml'}:{said}"


@pytest.mark.parametrize(
    "url", ["not a url", "ftp://x", "https://", "http://me:pass@x", "https://x/?key=pass"]
)
def test_a_server_to_which_no_request_can_go_is_refused_in_the_file_and_before_it_is_stored(
    url: str, tmp_path: Path
) -> None:
    said = refusal(tmp_path, f'\nbase_url = "{url}"\n')
    assert "config.toml:2: base_url must be the address" in said
    with pytest.raises(ConfigError, match="base_url must be the address"):
        check_values({"base_url": url})
    assert "pass@" not in said and "key=" not in said
    assert read(tmp_path, 'base_url = " http://127.0.0.1:80/v1"\n').settings.base_url


def test_a_key_in_the_file_is_not_shown_but_told_where_it_belongs(tmp_path: Path) -> None:
    (said,) = read(tmp_path, f'api_key_command = "x"\napi_key = "{SECRET}"\n').warnings
    assert said.startswith(f"{tmp_path / 'config.toml'}:2: API keys are not allowed in this file; api_key is")
    assert "api_key_env" in said and SECRET not in said
    said = refusal(tmp_path, f'api_key_env = "{SECRET}"\n')
    assert "config.toml:1: api_key_env must be the name of an env" in said and SECRET not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'model = "{}"',
            "1: model contains what looks like an API key, which is not allowed there; put it into ANTHROPIC",
        ),
        ('theme = "{}"', "1: theme contains what looks like an API key"),
        ('base_url = "{}"', "1: base_url contains what looks like an API key"),
        ('colours = "{}"', "1: colours must be one of auto, 16, none, not '[secret]'"),
        ('[approval_of]\nundo = "{}"', "2: approval_of.undo must be one of ask, allow, deny, not '[secret]'"),
        (
            'mouse = 1\n"{}" = 1',
            "1: mouse must be true or false; line 2: unknown setting '[secret]' is ignored",
        ),
        (
            'mouse = 1\n[keys]\nhelp = "{}"',
            "1: mouse must be true or false; line 3: [keys] help cannot have [secret]",
        ),
    ],
)
@pytest.mark.parametrize("key", [SECRET, "a-secret-of-the-environment-that-is-longer-than-40"])
def test_a_key_in_the_wrong_place_is_not_shown(
    text: str, said: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-secret-of-the-environment-that-is-longer-than-40")
    told = refusal(tmp_path, text.format(key)).removeprefix(f"{tmp_path / 'config.toml'}:")
    assert told.startswith(said) and key not in told


def test_a_key_as_the_model_of_a_flag_or_the_environment_is_not_taken_and_not_shown(tmp_path: Path) -> None:
    env = {"PERSONA_CONFIG": str(tmp_path / "config.toml"), "PERSONA_MODEL": SECRET}
    for loaded, source in (
        (load_settings(env), "$PERSONA_MODEL"),
        (load_settings({**env, "PERSONA_MODEL": ""}, model=SECRET), "--model"),
    ):
        (said,) = loaded.warnings
        assert said.startswith(f"{source} contains what looks like an API key") and SECRET not in said
        assert loaded.settings.model == "" and loaded.unusable == {"model"}
    with pytest.raises(ConfigError, match="model contains what looks like an API key"):
        check_values({"model": SECRET})


def test_the_flag_holds_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = 'file'\nbase_url = 'http://file'\n")
    env = {"PERSONA_CONFIG": str(tmp_path / "config.toml")}
    both = {**env, "PERSONA_MODEL": "environment", "ANTHROPIC_BASE_URL": "http://environment"}
    for given, flag, model, server, source in (
        *((env, None, "file", "file", "the file"), (env, "flag", "flag", "file", "--model")),
        (both, None, "environment", "environment", "$PERSONA_MODEL"),
        (both, "flag", "flag", "environment", "--model"),
    ):
        loaded = load_settings(given, model=flag)
        assert (loaded.settings.model, loaded.settings.base_url) == (model, f"http://{server}")
        assert loaded.sources["model"] == source


def test_what_can_be_used_holds_beside_what_cannot(tmp_path: Path) -> None:
    loaded = read(tmp_path, 'colours = "17"\napproval = "ask-al"\nretries = 9\n')
    assert (loaded.settings.colours, loaded.settings.approval, loaded.settings.retries) == ("auto", "auto", 9)
    looks, agents = loaded.warnings
    assert looks.endswith("not '17'; the default is used")
    assert agents.endswith("not 'ask-al'; the agent is disabled until this is fixed")
    loaded.check(but=("colours", "approval"))
    with pytest.raises(ConfigError, match=r":2: approval must be .*; line 1: colours must be"):
        loaded.check(but=of_looks())  # what stops it first


def test_what_the_environment_says_instead_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('base_url = "foo"\n')
    loaded = load_settings({"PERSONA_CONFIG": str(path), "ANTHROPIC_BASE_URL": "http://x"})
    loaded.check()
    assert loaded.settings.base_url == "http://x" and len(loaded.wrong) == 1


def test_a_settings_file_that_broke_meanwhile_leaves_what_held(tmp_path: Path) -> None:
    first = read(tmp_path, 'approval = "ask-all"\ntheme = "light"\n')
    second = read(tmp_path, 'approval = "ask-al"\ntheme = "dark"\n').after(first)
    third = read(tmp_path, "approval = \n").after(second)
    for later, theme in ((second, "dark"), (third, "dark")):
        assert (later.settings.approval, later.settings.theme) == ("ask-all", theme)
        later.check()
        assert later.sources["approval"] == "the file"
        assert later.warnings[0].endswith("; the previous value is kept")
    from_start = read(tmp_path, "approval = \n")
    fourth = read(tmp_path, 'approval = "ask-al"\n').after(from_start)
    with pytest.raises(ConfigError):
        fourth.check()  # nothing held before


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _large(path: Path) -> None:
    path.write_bytes(b"#" * (1024 * 1024 + 1))


@pytest.mark.parametrize("make", [_pipe, _endless, Path.mkdir, _large])
def test_a_settings_file_that_is_none_is_told_and_never_waited_for(
    make: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    make(path)
    env = {"PERSONA_CONFIG": str(path)}
    loaded = load_settings(env)
    (said,) = loaded.warnings
    assert said.startswith(f"{path} is ") and said.endswith("; the agent is disabled until this is fixed")
    with pytest.raises(ConfigError):
        loaded.check(but=of_looks())
    for change in (lambda: write_settings(path, {"mouse": True}), lambda: unset_setting(path, "mouse")):
        with pytest.raises(BrokenSettings):
            change()


def test_a_settings_file_may_be_a_link_to_anywhere(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "dot.toml").write_text("mouse = false\n")
    (tmp_path / "config.toml").symlink_to(tmp_path / "mine" / "dot.toml")
    assert load_settings({"PERSONA_CONFIG": str(tmp_path / "config.toml")}).settings.mouse is False


def test_what_is_odd_is_told_on_its_own_line_whatever_begins_or_reads_alike(tmp_path: Path) -> None:
    text = (
        'model = """\nodd = 1\n"""\noddly.a = 1\n"odd" = 1\n[keys]\noutput.nowhere = "f9"\n"pane.no" = "f8"\n'
    )
    lines = [said.removeprefix(f"{tmp_path / 'config.toml'}:") for said in read(tmp_path, text).warnings]
    assert [line.split(":")[0] for line in lines] == ["4", "5", "7", "8"]
