"""The agent core and everything a model may do. Never imports Textual.

An agent with one tool and a listener, on a scripted model (any `Model` will do):

    import asyncio
    from pydantic import BaseModel
    from agent.agent import Agent
    from agent.models.scripted import ScriptedModel, ToolUse, answer
    from agent.tool import Tool

    class Place(BaseModel):
        place: str

    async def weather(given, ctx):
        return f"Sunny in {given.place}."

    model = ScriptedModel([answer(ToolUse("weather", {"place": "Rome"})), answer("It is sunny in Rome.")])
    tool = Tool("weather", "Tell the weather of a place.", "Look at the weather", Place, weather)
    agent = Agent(model=model, tools=[tool], system_prompt="You know the weather.")
    agent.subscribe(lambda event: print(event.text, end="") if event.type == "turn_delta" else None)
    end = asyncio.run(agent.prompt("How is the weather in Rome?"))
    print("", end.outcome, [turn.type for turn in end.turns])
"""
