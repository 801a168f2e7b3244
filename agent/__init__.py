"""The agent core and everything a model may do. Never imports Textual.

An agent with one tool and a listener, on a scripted model (any `Model` will do):

    import asyncio
    from pydantic import BaseModel
    from agent import Agent, ScriptedModel, Tool
    from agent.models.scripted import ToolUse, answer

    class Place(BaseModel):
        place: str

    async def weather(given, ctx):
        return f"Sunny in {given.place}."

    model = ScriptedModel([answer(ToolUse("weather", {"place": "Rome"})), answer("It is sunny in Rome.")])
    tool = Tool("weather", "Tell the weather of a place.", "Look at the weather", Place, weather)
    agent = Agent(model=model, tools=[tool], system_prompt="You know the weather.")
    agent.subscribe(lambda event: print(event.type))
    end = asyncio.run(agent.prompt("How is the weather in Rome?"))
    print(end.outcome, [turn.type for turn in end.turns])
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent.core.agent import Agent
    from agent.core.clock import Clock, SystemClock
    from agent.core.errors import AgentBusy, EmptyMessage, NothingToContinue
    from agent.core.events import (
        AgentEnd,
        AgentStart,
        Event,
        ModelNotice,
        RetryWait,
        StepEnd,
        StepStart,
        ToolEnd,
        ToolProgress,
        ToolStart,
        TurnDelta,
        TurnEnd,
        TurnStart,
    )
    from agent.core.limits import Limits
    from agent.core.loop import agent_loop, agent_loop_continue
    from agent.core.loop_config import AbortController, AgentContext, AgentState, LoopConfig
    from agent.core.messages import to_messages
    from agent.core.model import (
        BlockDelta,
        BlockEnd,
        BlockEvent,
        BlockStart,
        Done,
        Failed,
        Model,
        ModelError,
        Notice,
        Request,
        ToolSpec,
        Usage,
        UsageSoFar,
        Waiting,
    )
    from agent.core.retry import RetryPolicy
    from agent.core.tool import Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
    from agent.core.turns import (
        AssistantTextTurn,
        CustomTurn,
        NoticeTurn,
        ThinkingTurn,
        ToolCallTurn,
        ToolResultTurn,
        Turn,
        UserTurn,
    )
    from agent.models.anthropic.client import AnthropicModel
    from agent.models.proxy import ProxyModel
    from agent.models.scripted import ScriptedModel
    from agent.transcript.session_log import Session

__all__ = [
    "AbortController", "Agent", "AgentBusy", "AgentContext", "AgentEnd", "AgentStart", "AgentState", "AnthropicModel",
    "AssistantTextTurn", "Block", "BlockDelta", "BlockEnd", "BlockEvent", "BlockStart", "ChangeInput",
    "Clock", "CustomTurn", "Done", "EmptyMessage", "Event", "Failed", "HookContext", "Limits", "LoopConfig",
    "Model", "ModelError", "ModelNotice", "NothingToContinue", "Notice", "NoticeTurn",
    "ProxyModel", "Request", "RetryPolicy", "RetryWait", "ScriptedModel", "Session", "StepEnd", "StepStart",
    "SystemClock", "ThinkingTurn", "Tool", "ToolCallTurn", "ToolContext", "ToolEnd", "ToolOutput",
    "ToolProgress", "ToolResultTurn", "ToolSpec", "ToolStart", "Turn", "TurnDelta", "TurnEnd",
    "TurnStart", "Usage", "UsageSoFar", "UserTurn", "Waiting", "agent_loop", "agent_loop_continue",
    "to_messages",
]  # fmt: skip

_NAMES = {
    "agent.core.agent": "Agent",
    "agent.core.loop_config": "AbortController AgentContext AgentState LoopConfig",
    "agent.core.events": "AgentEnd AgentStart Event ModelNotice RetryWait StepEnd StepStart ToolEnd ToolProgress ToolStart TurnDelta TurnEnd TurnStart",
    "agent.core.limits": "Limits",
    "agent.core.loop": "agent_loop agent_loop_continue",
    "agent.core.messages": "to_messages",
    "agent.models.anthropic.client": "AnthropicModel",
    "agent.core.model": "BlockDelta BlockEnd BlockEvent BlockStart Done Failed Model ModelError Notice Request ToolSpec Usage UsageSoFar Waiting",
    "agent.models.proxy": "ProxyModel",
    "agent.core.retry": "RetryPolicy",
    "agent.models.scripted": "ScriptedModel",
    "agent.core.clock": "Clock SystemClock",
    "agent.core.errors": "AgentBusy EmptyMessage NothingToContinue",
    "agent.transcript.session_log": "Session",
    "agent.core.tool": "Block ChangeInput HookContext Tool ToolContext ToolOutput",
    "agent.core.turns": "AssistantTextTurn CustomTurn NoticeTurn ThinkingTurn ToolCallTurn ToolResultTurn Turn UserTurn",
}
"""Where the names live. A module is loaded when one of its names is first asked for."""


def __getattr__(name: str) -> object:
    for module, names in _NAMES.items():
        if name in names.split():
            from importlib import import_module

            value = globals()[name] = getattr(import_module(module), name)
            return value
    raise AttributeError(f"module 'agent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
