"""What `persona list` costs, in seconds of a processor, in a home with many personas, each with a conversation: DESIGN.md wants 3,000 within 1.5 s.

python -m tests.benchmarks.listing [PERSONAS]
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from agent.chat.chat import Chat
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.options import JobOptions
from agent.models.scripted import ScriptedModel, ToolUse, answer
from personas.files.home import open_home
from personas.store import Store
from tui.cli.agent.tasks import open_tasks

PROMPT = "You are careful.\n" * 40
ROUNDS = 30
"""Messages in each conversation."""
IN_FILES = 30
"""Of so many personas one has its prompt in a file of its own."""
OPEN = 100
"""Of so many personas one has a task that waits."""


async def _converse(store: Store) -> tuple[bytes, bytes]:
    """Make a conversation; return its log as it is after plain messages, and with a task that waits."""
    edit = ToolUse("update_system_prompt", {"system_prompt": PROMPT})
    answers = [one for _ in range(ROUNDS) for one in (answer("I will.", edit), answer("Done. " * 40))]
    ask = ToolUse("ask_user", {"question": "Which one?"})
    chat = Chat(store, "first", ScriptedModel([*answers, answer(ask)]))
    runner = AgentJobs(JobOptions(request_pause=0))
    for number in range(ROUNDS):
        await runner.start(chat, f"Change it, {number}.", kind="chat")
        await runner.wait("first")
    path = store.home.sessions / f"{store.session_of('first')}.jsonl"
    plain = path.read_bytes()
    await runner.start(chat, "Do it all.")
    while (task := runner.job("first")) is None or not task.is_waiting:
        await asyncio.sleep(0.01)
    runner.suspend("first")
    await runner.wait("first")
    return plain, path.read_bytes()


def build(root: Path, personas: int) -> Store:
    """Make a home of so many personas, with a conversation each."""
    store = Store(open_home(root))
    store.create("First", system_prompt=PROMPT)
    plain, waiting = asyncio.run(_converse(store))
    first = store.session_of("first") or ""
    text = store.path("first").read_text(encoding="utf-8")
    prompts = store.home.root / "prompts"
    prompts.mkdir()
    links = (store.home.sessions / "current-sessions.journal").open("a", encoding="utf-8")
    with links:
        for number in range(personas - 1):
            name, session = f"persona-{number}", f"session_{number}"
            if number % IN_FILES:
                store.path(name).write_text(text, encoding="utf-8")
            else:
                (prompts / f"{name}.md").write_text(f"---\nname: {name}\n---\n{PROMPT}", encoding="utf-8")
                named = f'name = "{name}"\nsystem_prompt_file = "prompts/{name}.md"\n'
                store.path(name).write_text(named, encoding="utf-8")
            log = waiting if number % OPEN == 0 else plain
            log = log.replace(first.encode(), session.encode()).replace(b'"first"', f'"{name}"'.encode())
            (store.home.sessions / f"{session}.jsonl").write_bytes(log)
            links.write(f'{{"persona_id":"{name}","session_id":"{session}"}}\n')
    return store


def clock() -> float:
    """Seconds of processor time of this process and those it waited for: another program's work does not count."""
    return sum(os.times()[:4])


def main() -> None:
    """Print what the list costs, and what of it the jobs take."""
    personas = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    with tempfile.TemporaryDirectory() as folder:
        store = build(Path(folder) / "home", personas)
        size = sum(path.stat().st_size for path in store.home.sessions.glob("*.jsonl")) / personas
        print(f"{personas:,} personas, {size / 1000:,.0f} kB of conversation each, 1 of {OPEN} waits")
        for label, action in (("the personas", store.list), ("the jobs", lambda: open_tasks(store))):
            started = clock()
            found = action()
            print(f"  {label:24} {clock() - started:6.2f} s   {len(found):,} found")
        started = clock()
        command = [sys.executable, "-m", "tui", "--home", str(store.home.root), "list", "--json"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        print(f"  {'persona list --json':24} {clock() - started:6.2f} s")


if __name__ == "__main__":
    main()
