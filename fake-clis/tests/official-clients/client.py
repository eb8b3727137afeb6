"""Drives a `claude` with the official Python client and tells, line by line, what a user of that client saw.

Usage: client.py PROGRAM VERSION FOLDER. The same story must come out of client.mjs: both are compared with stories.txt.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

PROGRAM, VERSION, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
# What the understudy is told goes past the client, through the environment.
SETTING = ("REHEARSAL_SCENE", "REHEARSAL_VERSION", "REHEARSAL_BREACHES", "CLAUDE_CONFIG_DIR")

# Far more than all of it takes: nothing may hang.
PATIENCE_S = 100
# A session that nobody had, and what both clients raise about it.
NOBODY = "00000000-0000-4000-8000-000000000000"
NOBODY_WORDS = f"No conversation found with session ID: {NOBODY}"


class Story:
    """One scenario in a folder of its own."""

    def __init__(self, name: str) -> None:
        self.folder = FOLDER / name
        self.folder.mkdir(parents=True)
        self.sessions: list[str] = []
        print(f"# {name}")

    def options(self, scene: str, **more: object) -> ClaudeAgentOptions:
        """A launch of the program that plays this scene."""
        setting = (scene, VERSION, str(self.folder / "breaches"), str(self.folder / "config"))
        return ClaudeAgentOptions(
            cli_path=PROGRAM, cwd=self.folder, model="haiku", env=dict(zip(SETTING, setting, strict=True)), **more
        )

    def saw(self, message: object) -> None:
        """Tells a message."""
        match message:
            case SystemMessage(subtype="init", data=data):
                assert data["claude_code_version"] == VERSION, data["claude_code_version"]
                self.sessions.append(data["session_id"])
                self.line("init", data["model"], data["permissionMode"])
            case SystemMessage(subtype=subtype):
                self.line("system", subtype)
            case AssistantMessage(content=blocks) | UserMessage(content=list() as blocks):
                for block in blocks:
                    self.block("assistant" if isinstance(message, AssistantMessage) else "user", block)
            case UserMessage(content=text):
                self.line("user", json.dumps(text))
            case ResultMessage():
                self.sessions.append(message.session_id)
                words = "" if message.result is None else json.dumps(message.result)
                denied = [denial["tool_name"] for denial in message.permission_denials or []]
                self.line("result", message.subtype, "error" if message.is_error else "fine", words, *(f"denied={tool}" for tool in denied))
            case StreamEvent():
                pass
            case _:
                self.line("unexpected", repr(message))

    def block(self, who: str, block: object) -> None:
        """Tells one block of a message."""
        match block:
            case ThinkingBlock():
                self.line(who, "thinks")
            case TextBlock(text=text):
                self.line(who, json.dumps(text))
            case ToolUseBlock(name=name, input=given):
                self.line(who, "calls", name, given["command"])
            case ToolResultBlock(content=content, is_error=failed):
                # Only the first sentence: what follows is prose that versions word differently.
                self.line(who, "tool", "failed" if failed else "gave", json.dumps(str(content).split(". ")[0]))
            case _:
                self.line(who, repr(block))

    def line(self, *words: str) -> None:
        """Tells one line."""
        print(" ", " ".join(word for word in words if word))

    def end(self) -> None:
        """Tells what holds for the whole of it."""
        self.line("sessions:", str(len(set(self.sessions))))
        breaches = self.folder / "breaches"
        for breach in breaches.read_text().splitlines() if breaches.exists() else []:
            self.line("breach:", breach)


async def one_shot() -> None:
    story = Story("one shot")
    async for message in query(prompt="Run echo.", options=story.options("bash", allowed_tools=["Bash"])):
        story.saw(message)
    story.end()


async def turns_on_one_connection() -> None:
    story = Story("turns on one connection")
    async with ClaudeSDKClient(story.options("second-turn")) as client:
        for prompt in ("Say hello.", "And again."):
            await client.query(prompt)
            async for message in client.receive_response():
                story.saw(message)
    story.end()


async def permission(name: str, answer: PermissionResultAllow | PermissionResultDeny) -> None:
    story = Story(f"permission {name}")
    asked: list[str] = []

    async def can_use_tool(tool: str, given: dict[str, object], _: object) -> PermissionResultAllow | PermissionResultDeny:
        asked.append(f"{tool} {given['command']}")
        return answer

    async def prompts() -> AsyncIterator[dict[str, object]]:
        yield {"type": "user", "message": {"role": "user", "content": "Touch a file."}}

    options = story.options(f"permission-{name}", can_use_tool=can_use_tool)
    async for message in query(prompt=prompts(), options=options):
        story.saw(message)
    story.line("asked:", ", ".join(asked))
    story.end()


async def interrupt() -> None:
    story = Story("interrupt")
    options = story.options("interrupt-during-bash", include_partial_messages=True, permission_mode="acceptEdits", allowed_tools=["Bash"])
    async with ClaudeSDKClient(options) as client:
        await client.query("Sleep.")
        async for message in client.receive_response():
            story.saw(message)
            if isinstance(message, StreamEvent) and message.event["type"] == "message_stop":
                await client.interrupt()
        await client.query("Are you there?")
        async for message in client.receive_response():
            story.saw(message)
    story.end()


async def resume() -> None:
    story = Story("resume")
    async for message in query(prompt="Say hello.", options=story.options("plain-turn")):
        story.saw(message)
    async for message in query(prompt="Go on.", options=story.options("resume", resume=story.sessions[0])):
        story.saw(message)
    story.end()


async def resume_of_nothing() -> None:
    story = Story("resume of nothing")
    try:
        # This client raises before it hands out the result that says so, the other one after it.
        async for _ in query(prompt="Go on.", options=story.options("resume", resume=NOBODY)):
            pass
    except ClaudeSDKError as error:
        story.line("raised:", NOBODY_WORDS if NOBODY_WORDS in str(error) else str(error))
    story.end()


async def control_requests() -> None:
    story = Story("control requests")
    async with ClaudeSDKClient(story.options("plain-turn")) as client:
        info = await client.get_server_info() or {}
        story.line("commands:", "yes" if info["commands"] else "no", "models:", "yes" if info["models"] else "no")
        story.line("mcp servers:", json.dumps((await client.get_mcp_status())["mcpServers"]))
        story.line("context:", str((await client.get_context_usage())["percentage"]), "%")
        await client.set_model("sonnet")
        await client.set_permission_mode("acceptEdits")
        await client.query("Say hello.")
        async for message in client.receive_response():
            story.saw(message)
    story.end()


async def many_options() -> None:
    story = Story("many options")
    options = story.options(
        "plain-turn",
        add_dirs=[story.folder],
        betas=["context-1m-2025-08-07"],
        disallowed_tools=["WebSearch"],
        effort="low",
        fallback_model="sonnet",
        include_hook_events=True,
        max_budget_usd=1.0,
        max_turns=3,
        session_id="00000000-0000-4000-8000-000000000001",
        setting_sources=[],
        settings="{}",
        strict_mcp_config=True,
        system_prompt={"type": "preset", "preset": "claude_code", "append": "Be brief."},
        task_budget={"total": 100_000},
        thinking={"type": "adaptive", "display": "summarized"},
        tools={"type": "preset", "preset": "claude_code"},
    )
    async for message in query(prompt="Say hello.", options=options):
        story.saw(message)
    story.line("session:", *set(story.sessions))
    story.end()


async def main() -> None:
    await one_shot()
    await turns_on_one_connection()
    await permission("allow", PermissionResultAllow())
    await permission("deny", PermissionResultDeny(message="Not here."))
    await interrupt()
    await resume()
    await resume_of_nothing()
    await control_requests()
    await many_options()


os.environ.pop("CLAUDECODE", None)
asyncio.run(asyncio.wait_for(main(), PATIENCE_S))
