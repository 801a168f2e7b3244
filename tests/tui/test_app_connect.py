"""The first start, and connecting a model while the program runs: greeting, keys, servers, keeping the choice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.events import Paste

from agent.models.anthropic.client import AnthropicModel
from agent.models.local_servers import LocalServer
from agent.models.offline import OfflineModel
from agent.models.scripted import answer
from tests.support.hostile import EVIL, QUOTED, assert_harmless
from tests.support.messages_server import KEY, MessagesServer, call, say
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tests.support.screen import drawn
from tests.support.settings import page, preferences, row
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.connect_dialog import AskSecret, ConnectDialog, SecretInput
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.settings import ProgramSettings
from tui.screens.dialogs.text_prompt import AskLine
from tui.settings.live_settings import NamedServer
from tui.terminal.secrets import redact
from tui.widgets.text.line_input import LineInput

WORKS = [say("ready"), call("report", {"word": "ready"}), say("Hello from afar.")]


async def choose(p: Program, way: str) -> None:
    """Open the ways to a model and take one."""
    if not isinstance(p.app.screen, ConnectDialog):
        p.main.action_choose_model()
    dialog = await p.dialog(ConnectDialog)
    dialog.query_one("#choices").select(way)
    await p.press("enter")


async def test_what_is_typed_takes_the_place_of_the_server_before(tmp_path: Path) -> None:
    settings = preferences(tmp_path, 'base_url = "https://old.example"\nmodel = "old"\n')
    async with program(make_store(tmp_path), preferences=settings) as p:
        p.main.action_choose_model()
        await p.dialog(ConnectDialog)
        await p.press("down", "down", "enter")
        dialog = await p.dialog(AskLine)
        field = dialog.query_one(LineInput)
        assert field.value == "https://old.example"
        await p.write("new")
        assert field.value == "new"


async def greeted_in_a_line(p: Program) -> None:
    """Wait until the line above the chat bar says the welcome; it covers nothing."""
    line = p.main.chat_bar.trace
    await p.until(lambda: line.display and "Welcome. F1 shows the keys" in str(line.render()))
    assert not any("Welcome" in message for message in p.messages)


async def fill(p: Program, kind: type, text: str) -> None:
    dialog = await p.dialog(kind)
    dialog.query_one("#answer").value = text
    await p.press("enter")


async def test_the_first_start_greets_once_and_enter_begins(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, model=OfflineModel(), preferences=preferences(tmp_path, None)) as p:
        dialog = await p.dialog(ConnectDialog)
        assert "offline model" in drawn(dialog)
        assert "/model" in drawn(dialog)
        await p.press("enter")
        await p.until(lambda: p.app.screen is p.main)
        await p.main.remember()
    async with program(store, model=OfflineModel(), preferences=preferences(tmp_path, None)) as p:
        await p.until(lambda: not p.main._tasks)  # also what greets
        assert p.app.screen is p.main
        assert not any("Welcome" in message for message in p.messages)


async def test_what_is_typed_before_the_greeting_comes_keeps_it_away(tmp_path: Path) -> None:
    async with program(
        make_store(tmp_path), model=OfflineModel(), preferences=preferences(tmp_path, None), ready=False
    ) as p:
        await p.press("m")
        await greeted_in_a_line(p)
        assert p.app.screen is p.main
        assert p.main.chat_bar.draft == "m"


@pytest.mark.parametrize("pasted", [False, True])
async def test_what_is_typed_over_the_greeting_goes_into_the_chat_bar(tmp_path: Path, pasted: bool) -> None:
    async with program(
        make_store(tmp_path), model=OfflineModel(), preferences=preferences(tmp_path, None)
    ) as p:
        await p.until(lambda: isinstance(p.app.screen, ConnectDialog))
        p.app.screen._appeared = float("inf")
        await p.press("enter")
        assert isinstance(p.app.screen, ConnectDialog), "a key typed before it appeared does not answer it"
        if pasted:
            p.app.post_message(Paste("just kinder"))
        else:
            await p.write("just kinder")
        await p.until(lambda: p.main.chat_bar.draft == "just kinder")
        assert p.app.screen is p.main
        await greeted_in_a_line(p)


async def test_whoever_named_a_model_is_greeted_by_a_line(tmp_path: Path) -> None:
    settings = preferences(tmp_path, None, {"PERSONA_MODEL": "offline"})
    async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
        await greeted_in_a_line(p)
        assert p.app.screen is p.main


async def test_a_model_that_is_named_while_a_run_is_at_work_is_for_the_next_run(tmp_path: Path) -> None:
    gate = Gate()
    script = answer("Done.")
    script.insert(1, gate)
    model = GatedModel([script])
    async with program(make_store(tmp_path), model=model, preferences=preferences(tmp_path)) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        await p.say("/model offline")
        await p.notified("Once this run is over: ")
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        await p.say("/model claude-sonnet-5-5")
        await p.notified("From the next message on: ")
        await p.until(lambda: any("no key" in m and "/model takes one" in m for m in p.messages))


async def test_whoever_has_settings_is_greeted_in_a_line_in_a_new_home(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, model=OfflineModel(), preferences=preferences(tmp_path)) as p:
        await greeted_in_a_line(p)
        assert p.app.screen is p.main
        await p.write("a draft")
        await p.until((store.home.state / "screen.json").exists)
    async with program(store, model=OfflineModel(), preferences=preferences(tmp_path)) as p:
        await p.until(lambda: p.main.conversation.current is not None)
        assert p.messages == []


async def test_a_pasted_key_is_hidden_tried_used_at_once_and_written_nowhere(tmp_path: Path) -> None:
    with MessagesServer(WORKS) as server:
        settings = preferences(tmp_path, f'base_url = "{server.url}"\nmodel = "claude-sonnet-5-5"\n')
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
            await p.open("two")
            await p.open("one")
            await choose(p, "key")
            dialog = await p.dialog(AskSecret)
            assert server.url in drawn(dialog)
            field = dialog.query_one(SecretInput)
            field.post_message(Paste(f"  {KEY}\n"))
            await p.until(lambda: field.value.strip() == KEY)
            assert KEY not in drawn(dialog)
            field.action_select_all()
            field.action_copy()
            await p.press("ctrl+c", "ctrl+x")
            assert KEY not in p.app.clipboard
            assert field.value.strip() == KEY
            await p.press("enter")
            await p.until(lambda: p.app.model_name == "claude-sonnet-5-5" and p.app.screen is p.main)
            await p.notified("kept until you quit")
            await p.run_to_end("hello")
            assert "Hello from afar." in drawn(p.main)
        assert all(request.headers.get("authorization") == f"Bearer {KEY}" for request in server.requests)
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    assert KEY not in repr(settings.connection())
    assert KEY not in redact(f"boom {KEY}")


async def test_a_key_that_does_not_work_leaves_the_model_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, close = list[AnthropicModel](), AnthropicModel.close

    async def close_noted(model: AnthropicModel) -> None:
        await close(model)
        closed.append(model)

    monkeypatch.setattr(AnthropicModel, "close", close_noted)
    with MessagesServer(WORKS) as server:
        settings = preferences(tmp_path, f'base_url = "{server.url}"\nmodel = "claude-sonnet-5-5"\n')
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
            await choose(p, "key")
            await fill(p, AskSecret, "wrong")
            await p.until(lambda: isinstance(p.app.screen, Confirm))
            assert "wrong" not in drawn(p.app.screen).replace("did not work", "")
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)
            assert p.app.model_name == "offline"
            assert settings.connection().api_key == ""
            await p.until(lambda: len(closed) == 1)
            assert closed[0]._http._built is None


class Closable(GatedModel):
    """A model that says whether it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True


async def test_a_model_that_was_replaced_is_closed_once_no_run_has_it(tmp_path: Path) -> None:
    gate = Gate()
    first, second, third = models = [Closable([[gate, *answer("Hello.")]]), Closable([]), Closable([])]
    made = iter(models)
    async with program(make_store(tmp_path), model=first, make_model=lambda _name: next(made)) as p:
        await p.say("go")
        await p.until(lambda: first.requests)
        for model in (second, third):
            await p.app.use_model("another")
            assert p.app._model is model
        await p.pilot.pause()
        assert [model.closed for model in models] == [False, False, False]
        gate.set()
        await p.until(lambda: [model.closed for model in models] == [True, True, False])
        assert [turn.content for turn in p.main.conversation.current.shown][-1] == "Hello."


async def test_the_conversation_of_a_deleted_persona_keeps_no_file_open(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Hello.")) as p:
        await p.run_to_end("go")
        session = p.main.conversation.current.chat.session
        assert session._session is not None
        p.main.conversation.forget("one")
        await p.until(lambda: session._session is None)


async def test_the_keyring_is_offered_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[tuple[str, str], str] = {}
    ring = SimpleNamespace(
        set_password=lambda service, name, value: kept.__setitem__((service, name), value),
        get_password=lambda service, name: kept.get((service, name)),
        delete_password=lambda service, name: kept.pop((service, name)),
    )
    monkeypatch.setattr("tui.settings.keyring.available", lambda: True)
    monkeypatch.setattr("tui.settings.keyring._ring", lambda: ring)
    with MessagesServer(WORKS) as server:
        settings = preferences(tmp_path, f'base_url = "{server.url}"\nmodel = "claude-sonnet-5-5"\n')
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
            await choose(p, "key")
            await fill(p, AskSecret, KEY)
            await p.until(lambda: isinstance(p.app.screen, Confirm))
            await p.dialog(Confirm)
            await p.press("y")
            await p.until(lambda: settings.settings.api_key_in_keyring)
    text = (tmp_path / "config.toml").read_text()
    assert "api_key_in_keyring = true" in text
    assert KEY not in text
    assert kept == {("persona-editor", "api-key"): KEY}
    again = preferences(tmp_path, None)
    assert again.connection().source == "the keyring"
    assert again.make_model().name == "claude-sonnet-5-5"
    async with program(make_store(tmp_path / "2"), model=OfflineModel(), preferences=again) as p:
        rows = await page(p, "api_key_in_keyring")
        assert row(rows, "api_key_in_keyring") == ("yes", "the file")
        await p.press("enter")
        await p.until(lambda: kept == {})
        assert row(rows, "api_key_in_keyring")[0] == "no"


async def test_a_local_server_is_tried_without_the_key_that_is_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesServer(WORKS) as server:

        async def find() -> list[LocalServer]:
            return [LocalServer("Ollama", server.url, ("claude-opus-5-5", "claude-haiku-5-5"))]

        monkeypatch.setattr("agent.models.local_servers.find_local_servers", find)
        settings = preferences(tmp_path, "# mine\n", {"ANTHROPIC_API_KEY": "of-anthropic-alone"})
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
            await choose(p, "local")
            await p.until(lambda: isinstance(p.app.screen, Picker))
            await p.press("enter")
            await p.until(lambda: isinstance(p.app.screen, Confirm))
    assert not any("of-anthropic-alone" in str(request.headers) for request in server.requests)


async def test_a_server_and_a_model_are_named_and_written_but_no_key(tmp_path: Path) -> None:
    with MessagesServer(WORKS) as server:
        settings = preferences(tmp_path, "# mine\n")
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:
            await choose(p, "server")
            await fill(p, AskLine, server.url)
            await p.until(lambda: "Which model" in drawn(p.app.screen))
            await fill(p, AskLine, "claude-opus-5-5")
            await fill(p, AskSecret, KEY)
            await p.until(lambda: isinstance(p.app.screen, Confirm))
            await p.dialog(Confirm)
            await p.press("y")
            await p.until(lambda: p.app.screen is p.main)
            await p.until(lambda: "claude-opus-5-5" in (tmp_path / "config.toml").read_text())
            assert p.app.model_name == "claude-opus-5-5"
    text = (tmp_path / "config.toml").read_text()
    assert text.startswith("# mine\n")
    assert f'base_url = "{server.url}"' in text
    assert KEY not in text


async def test_what_was_named_and_did_not_work_stands_there_again_with_its_key_unseen(tmp_path: Path) -> None:
    with MessagesServer(WORKS) as server:
        typed = server.url.removeprefix("http://")
        settings = preferences(tmp_path, 'base_url = "https://set.invalid"\n')
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings) as p:

            async def go_on(kind: type, stands: str, text: str = "") -> None:
                dialog = await p.dialog(kind)
                assert dialog.query_one("#answer").value == stands  # type: ignore[attr-defined]
                if kind is AskSecret:
                    assert ("is kept" in drawn(dialog), KEY in drawn(dialog)) == (bool(stands), False)
                if text:
                    dialog.query_one("#answer").action_select_all()  # type: ignore[attr-defined]
                    p.app.post_message(Paste(text))
                await p.press("enter")
                await p.until(lambda: p.app.screen is not dialog)

            async def back() -> None:
                await p.press("escape")
                await p.until(lambda: p.app.screen is p.main)

            await choose(p, "server")
            await go_on(AskLine, "https://set.invalid", typed)
            await go_on(AskLine, "", "a-slip")
            await go_on(AskSecret, "", KEY)
            assert "did not work" in drawn(await p.dialog(Confirm))
            await back()
            assert KEY not in repr(settings.named)
            await choose(p, "server")
            await go_on(AskLine, typed, "https://other.invalid")
            await go_on(AskLine, "a-slip")
            assert (await p.dialog(AskSecret)).query_one(SecretInput).value == "", "it is for another server"
            await back()
            settings.named = NamedServer(typed, "a-slip", KEY)
            await choose(p, "server")
            await go_on(AskLine, typed)
            await go_on(AskLine, "a-slip", "claude-opus-5-5")
            await go_on(AskSecret, KEY)
            await p.until(lambda: p.app.model_name == "claude-opus-5-5")
            assert settings.named == NamedServer()


async def test_a_way_that_led_nowhere_is_still_marked_and_waiting_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = []

    async def find() -> list[LocalServer]:
        return []

    async def for_ever() -> list[LocalServer]:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)
        return []

    monkeypatch.setattr("agent.models.local_servers.find_local_servers", find)
    async with program(make_store(tmp_path), model=OfflineModel(), preferences=preferences(tmp_path)) as p:
        await choose(p, "local")
        await p.notified("No model server answers")
        await p.until(lambda: isinstance(p.app.screen, ConnectDialog))
        assert p.app.screen.query_one("#choices").key == "local"  # type: ignore[attr-defined]
        monkeypatch.setattr("agent.models.local_servers.find_local_servers", for_ever)
        await choose(p, "local")
        await p.until(lambda: "Looking for" in drawn(p.app.screen))
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main and cancelled == [True])


def test_a_key_goes_to_no_other_server_than_it_was_given_for(tmp_path: Path) -> None:
    settings = preferences(tmp_path, "", {"ANTHROPIC_API_KEY": "mine"})
    assert settings.connection().api_key == "mine"
    other = settings.other(model="m", base_url="http://127.0.0.1:1")
    assert (other.api_key, other.auth_token) == ("", "")
    settings.use(other)
    assert settings.connection("another").api_key == ""
    assert settings.connection("another").base_url == "http://127.0.0.1:1"
    settings.use(settings.other(model="m", key="given"))
    assert settings.connection().api_key == "given"
    settings.use(settings.other(model="m", base_url=""))
    assert settings.connection().api_key == ""


async def test_hostile_settings_are_only_text_on_their_page_and_where_a_model_is_chosen(
    tmp_path: Path,
) -> None:
    text, env = f'model = "{QUOTED}"\n"{QUOTED}" = 1\n', {"ANTHROPIC_BASE_URL": EVIL}
    settings = preferences(tmp_path, text, env)
    async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings, size=(80, 24)) as p:
        dialog = ProgramSettings(settings)
        p.app.push_screen(dialog)
        await p.until(lambda: p.app.screen is dialog)
        await p.pilot.pause()
        assert_harmless(drawn(dialog))
        dialog.dismiss(None)
        await p.until(lambda: p.app.screen is p.main)
        p.main.action_choose_model()
        assert_harmless(drawn(await p.dialog(ConnectDialog)))


async def test_what_did_not_work_is_told_whole_where_it_is_asked_whether_to_keep_the_model(
    tmp_path: Path,
) -> None:
    size = (80, 24)
    with MessagesServer([say("ready"), say("I cannot.")]) as server:
        settings = preferences(tmp_path, "# mine\n")
        async with program(make_store(tmp_path), model=OfflineModel(), preferences=settings, size=size) as p:
            await choose(p, "server")
            await fill(p, AskLine, server.url)
            await p.until(lambda: "Which model" in drawn(p.app.screen))
            await fill(p, AskLine, "claude-opus-5-5")
            await fill(p, AskSecret, KEY)
            await p.until(lambda: isinstance(p.app.screen, Confirm))
            dialog = await p.dialog(Confirm)
            told = " ".join(drawn(dialog).replace("│", " ").split())
            assert "did not call the tool it was asked to call; it may not be able to edit." in told
            assert dialog.focused is not None and dialog.focused.id == "keep"
            await p.press("escape")
