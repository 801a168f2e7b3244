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
    from agent.agent import Agent, AgentBusy
    from agent.config import AgentContext, LoopConfig
    from agent.events import (
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
    from agent.interrupts import Interrupts
    from agent.limits import Limits
    from agent.loop import NothingToContinue, agent_loop, agent_loop_continue
    from agent.messages import to_messages
    from agent.models.anthropic import AnthropicModel
    from agent.models.base import (
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
    from agent.models.proxy import ProxyModel
    from agent.models.retry import RetryPolicy
    from agent.models.scripted import ScriptedModel
    from agent.models.stalls import Clock, SystemClock
    from agent.saying import NoWords
    from agent.session import Session
    from agent.state import AgentState
    from agent.tool import Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
    from agent.turns import (
        AssistantTextTurn,
        CustomTurn,
        NoticeTurn,
        ThinkingTurn,
        ToolCallTurn,
        ToolResultTurn,
        Turn,
        UserTurn,
    )

__all__ = [
    "Agent", "AgentBusy", "AgentContext", "AgentEnd", "AgentStart", "AgentState", "AnthropicModel",
    "AssistantTextTurn", "Block", "BlockDelta", "BlockEnd", "BlockEvent", "BlockStart", "ChangeInput",
    "Clock", "CustomTurn", "Done", "Event", "Failed", "HookContext", "Interrupts", "Limits", "LoopConfig",
    "Model", "ModelError", "ModelNotice", "NoWords", "NothingToContinue", "Notice", "NoticeTurn",
    "ProxyModel", "Request", "RetryPolicy", "RetryWait", "ScriptedModel", "Session", "StepEnd", "StepStart",
    "SystemClock", "ThinkingTurn", "Tool", "ToolCallTurn", "ToolContext", "ToolEnd", "ToolOutput",
    "ToolProgress", "ToolResultTurn", "ToolSpec", "ToolStart", "Turn", "TurnDelta", "TurnEnd",
    "TurnStart", "Usage", "UsageSoFar", "UserTurn", "Waiting", "agent_loop", "agent_loop_continue",
    "to_messages",
]  # fmt: skip

_NAMES = {
    "agent.agent": "Agent AgentBusy",
    "agent.config": "AgentContext LoopConfig",
    "agent.events": "AgentEnd AgentStart Event ModelNotice RetryWait StepEnd StepStart ToolEnd ToolProgress ToolStart TurnDelta TurnEnd TurnStart",
    "agent.interrupts": "Interrupts",
    "agent.limits": "Limits",
    "agent.loop": "NothingToContinue agent_loop agent_loop_continue",
    "agent.messages": "to_messages",
    "agent.models.anthropic": "AnthropicModel",
    "agent.models.base": "BlockDelta BlockEnd BlockEvent BlockStart Done Failed Model ModelError Notice Request ToolSpec Usage UsageSoFar Waiting",
    "agent.models.proxy": "ProxyModel",
    "agent.models.retry": "RetryPolicy",
    "agent.models.scripted": "ScriptedModel",
    "agent.models.stalls": "Clock SystemClock",
    "agent.saying": "NoWords",
    "agent.session": "Session",
    "agent.state": "AgentState",
    "agent.tool": "Block ChangeInput HookContext Tool ToolContext ToolOutput",
    "agent.turns": "AssistantTextTurn CustomTurn NoticeTurn ThinkingTurn ToolCallTurn ToolResultTurn Turn UserTurn",
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
