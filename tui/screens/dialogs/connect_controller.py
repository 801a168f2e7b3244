"""ConnectController the agent to a model while the program runs: asking, trying out, taking it, keeping it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from tui.commands.registry import first_key
from tui.screens.dialogs.connect_dialog import STAY, AskSecret, ConnectDialog, WaitDialog, the_model
from tui.settings.live_settings import NamedServer
from tui.settings.schema import OFFLINE

if TYPE_CHECKING:
    from agent.chat.tool_use_history import ToolUseHistory
    from agent.core.model import Model
    from agent.models.local_servers import LocalServer
    from agent.models.probe import ProbeResult
    from personas.files.home import Home
    from tui.app.app import PersonaApp
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.settings.live_settings import LiveSettings
    from tui.settings.model_factory import Connection

ANTHROPIC = "Anthropic's API"
MODEL_WANTED = "Enter a model name."
OFFLINE_IS = "It is built in and needs no network: it follows plain requests such as “replace X with Y”."

WELCOME = """Each persona is a file that you own. Ask for changes in the bar below: the agent makes them \
and shows each as a diff; every one can be undone. {help} shows the keys.

The agent's model is {model}. {is_}You can connect another at any time with /model."""

NEVER_CALLED = "It has not called a tool yet; without tools it cannot change anything."

NOW = "The agent's model is {model}{server}. {is_}"


class ConnectController:
    """What the person is asked on the way to a model. One object for each time they set out.

    Args:
        host: the main screen.
        preferences: the settings as they can be changed.
        conversations: what is said, where a greeting goes.
        find_home: returns the home, None where it is not open yet.
    """

    def __init__(
        self,
        host: Host,
        preferences: LiveSettings,
        conversations: ConversationController,
        find_home: Callable[[], Home | None],
    ) -> None:
        self._host, self._preferences = host, preferences
        self._conversations, self._find_home = conversations, find_home

    @property
    def _program(self) -> PersonaApp:
        return self._host.program

    async def greet(self) -> None:
        """Greet somebody who starts the program for the first time, and offer the ways to a model."""
        text = WELCOME.format(
            model=the_model(self._program.model_name),
            is_=self._what_it_is(),
            help=first_key("help", self._program.settings.keys) or "/help",
        )
        dialog = ConnectDialog(self._program.model_name, text, greeting=True)
        await self._go(dialog)
        if dialog.dismissed_for_typing:
            self.greet_in_a_line()

    def greet_in_a_line(self) -> None:
        """The same for somebody who knows what they want already: nothing stands in their way."""
        self._conversations.activity.greet(
            f"Welcome. {first_key('help', self._program.settings.keys) or '/help'} shows the keys, "
            "/model connects another model."
        )

    async def choose(self, tried: str = "") -> None:
        """Offer the ways to a model; `tried`: the one that led nowhere a moment ago."""
        server = self._preferences.settings.base_url
        text = NOW.format(
            model=the_model(self._program.model_name),
            server=f" at {server}" if server else "",
            is_=self._what_it_is() or await asyncio.to_thread(self._note_on_tools, server),
        )
        await self._go(ConnectDialog(self._program.model_name, text.strip(), tried=tried))

    def _what_it_is(self) -> str:
        return OFFLINE_IS + " " if self._program.model_name == OFFLINE else ""

    def _note_on_tools(self, server: str) -> str:
        """What to know of the model's use of tools, without which it can change nothing; "" for nothing. Blocking."""
        from agent.models.anthropic.endpoint import hide_secrets, normalise_base_url
        from agent.models.local_servers import why_no_tools

        if (callers := self._tool_use_history) is None or not server:
            return ""
        endpoint = hide_secrets(normalise_base_url(server))
        if why := why_no_tools(endpoint):
            return why
        return "" if callers.has(self._program.model_name, endpoint) else NEVER_CALLED

    @property
    def _tool_use_history(self) -> ToolUseHistory | None:
        """Who has called a tool in this home; None where it is not open yet."""
        from agent.chat.tool_use_history import ToolUseHistory

        home = self._find_home()
        return ToolUseHistory(home) if home is not None else None

    async def _go(self, dialog: ConnectDialog) -> None:
        way = await self._host.ask(dialog)
        if way is not None and way != STAY:
            await getattr(self, f"_by_{way}")()

    async def take_key(self, key: str) -> None:
        """Connect with a key that was given to /model."""
        from tui.terminal.secrets import keep_out

        keep_out(key)
        await self._take(self._preferences.other(key=key), keep_key=True)

    # -- the ways -----------------------------------------------------------------------------------------

    async def _by_key(self) -> None:
        server = self._preferences.settings.base_url
        key = await self._ask_key(server)
        if key:
            await self._take(self._preferences.other(key=key), keep_key=True)

    async def _by_local(self) -> None:
        from agent.models.local_servers import find_local_servers
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        servers: list[LocalServer] | None = await self._host.ask(
            WaitDialog("Looking for model servers on this machine …", find_local_servers())
        )
        if servers is None:
            return
        offers = [(server, model) for server in servers for model in server.models]
        if not offers:
            notes = " ".join(f"{server.name} answers, but: {server.note}" for server in servers)
            self._host.show_message(
                notes
                or "No model server answers on this machine. Start Ollama, LM Studio, llama.cpp or vLLM first.",
                error=True,
            )
            await self.choose("local")
            return
        rows = [
            Row(str(place), model, tail=f"{server.name}{' (!)' if server.note else ''}", whole_end=True)
            for place, (server, model) in enumerate(offers)
        ]
        notes = "\n".join(
            f"(!) {server.name}: {server.note}" for server in servers if server.note and server.models
        )
        picked = await self._host.ask(Picker("Which model", rows, filter=len(rows) > 10, text=notes))
        if picked is not None:
            server, model = offers[int(picked)]
            await self._take(self._preferences.other(model=model, base_url=server.base_url), keep=True)

    async def _by_server(self) -> None:
        from tui.screens.dialogs.text_prompt import AskLine

        before = self._preferences.named
        server = await self._host.ask(
            AskLine(
                "Which server",
                text=before.server or self._preferences.settings.base_url,
                hint="https://example.org",
                wanted="Enter an address.",
                explanation="The address of a server that speaks the Messages API, with or without /v1.",
            )
        )
        if not server:
            return
        kept = before.key if server == before.server else ""  # a key goes to no other server
        named = self._preferences.named = NamedServer(server, before.model, kept)
        if not server.startswith(("http://", "https://")):
            server = f"http://{server}" if server.startswith(("localhost", "127.")) else f"https://{server}"
        model = await self._host.ask(
            AskLine(
                "Which model on that server", text=before.model, hint="its name there", wanted=MODEL_WANTED
            )
        )
        if not model:
            return
        self._preferences.named = named._replace(model=model)
        key = await self._ask_key(server, optional=True, kept=kept)
        if key is not None:
            self._preferences.named = named._replace(model=model, key=key)
            where = self._preferences.other(model=model, base_url=server, key=key)
            await self._take(where, keep=True, keep_key=bool(key))

    async def _by_model(self) -> None:
        from tui.screens.dialogs.text_prompt import AskLine

        explanation = "A model's name on the same server and with the same key, or offline."
        name = await self._host.ask(
            AskLine(
                "Another model",
                text=self._program.model_name,
                explanation=explanation,
                wanted=MODEL_WANTED,
            )
        )
        if name and name != self._program.model_name:
            await self._program.use_model(name)
            self._say_taken()

    async def _by_offline(self) -> None:
        await self._program.use_model(OFFLINE)
        self._say_taken()

    # -- trying, taking, keeping --------------------------------------------------------------------------

    async def _ask_key(self, server: str, *, optional: bool = False, kept: str = "") -> str | None:
        from tui.terminal.secrets import keep_out

        explanation = (
            f"It is sent to {server or ANTHROPIC} and nowhere else, and forgotten when the program ends."
            f"{' Leave it empty if the server wants none.' if optional else ''}"
            f"{' The one you gave before is kept: Enter takes it, and another takes its place.' if kept else ''}"
        )
        key: str | None = await self._host.ask(
            AskSecret(
                "The key",
                explanation,
                optional=optional,
                ascii_only=self._program.capabilities.ascii_only,
                kept=kept,
            )
        )
        if key:
            keep_out(key)
        return key

    async def _take(self, where: Connection, *, keep: bool = False, keep_key: bool = False) -> None:
        """Try a model out and use it from the next message on."""
        from agent.core.model import endpoint_of
        from tui.settings.model_factory import build_model, close_model

        model, probe = await asyncio.to_thread(build_model, where), None
        try:
            probe = await self._tried(where, model)
        finally:
            if probe is None:
                await close_model(model)
        if probe is None:
            return
        self._program.use_connection(where, model)
        self._preferences.named = NamedServer()
        if probe.calls_tools and (callers := self._tool_use_history) is not None:
            await asyncio.to_thread(callers.add, where.model, endpoint_of(model))
        note = "" if probe.calls_tools else probe.message
        if not (probe.answers and (keep or keep_key)):
            self._say_taken(note)
            return
        self._say_taken()
        if keep:
            await self._keep(where, note)
            note = ""
        if keep_key:
            await self._keep_key(where.api_key, note)

    async def _tried(self, where: Connection, model: Model) -> ProbeResult | None:
        """Try a model out; return what came of it, None where it is not to be used."""
        from agent.models.probe import try_out
        from tui.screens.dialogs.confirm import Confirm

        server = where.base_url or ANTHROPIC
        probe: ProbeResult | None = await self._host.ask(
            WaitDialog(f"Trying {where.model} at {server} …", try_out(model))
        )
        if probe is None:
            self._host.show_message("Stopped; the model is as it was.")
            return None
        if not probe.answers and not await self._host.ask(
            Confirm(
                "It did not work. Use it anyway?",
                f"{probe.message}\n\nThe model stays {self._program.model_name} unless you take this one.",
                action="Use it",
                keep="Leave it",
                danger=True,
            )
        ):
            return None
        return probe

    def _say_taken(self, note: str = "") -> None:
        when = self._conversations.from_when
        self._host.show_message(f"{when}: {self._program.model_name}. {note}".strip())
        self._host.show_keys()

    async def _keep(self, where: Connection, note: str) -> None:
        """Offer to have this model and server at every start; `note`: what did not work when it was tried."""
        from tui.screens.dialogs.confirm import Confirm

        question = Confirm(
            "Use it at every start?",
            f"{note}\n\nmodel = {where.model}, base_url = {where.base_url} are then written to "
            f"{self._preferences.path}. No key is written there.".strip(),
            action="Every start",
            keep="This time",
            danger=bool(note),
        )
        if await self._host.ask(question):
            await self._store({"model": where.model, "base_url": where.base_url})

    async def _keep_key(self, key: str, note: str) -> None:
        """Offer the keyring where there is one; else say how a key is had at every start. `note`: as for `_keep`."""
        from tui.screens.dialogs.confirm import Confirm
        from tui.settings import keyring

        if not await asyncio.to_thread(keyring.available):
            self._host.show_message(
                f"{note} The key is kept until you quit. For every start set ANTHROPIC_API_KEY, or api_key_command "
                "in the settings.".strip()
            )
            return
        question = Confirm(
            "Keep the key in the system's keyring?",
            f"{note}\n\nThen every start has it. Otherwise it is forgotten when you quit.".strip(),
            action="Keep it",
            keep="This time",
            danger=bool(note),
        )
        if await self._host.ask(question):
            await asyncio.to_thread(keyring.store_key, key)
            await self._store({"api_key_in_keyring": True})

    async def _store(self, values: dict[str, Any]) -> None:
        try:
            await asyncio.to_thread(self._preferences.store, values)
        except PersonaError as error:
            self._host.show_message(str(error), error=True)
        else:
            self._host.show_message(f"{self._preferences.path} is written.")
