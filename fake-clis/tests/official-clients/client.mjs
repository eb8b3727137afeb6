// Drives a `claude` with the official npm client and tells, line by line, what a user of that client saw.
//
// Usage: client.mjs PROGRAM VERSION FOLDER. The same story must come out of client.py: both are compared with stories.txt.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";

const [program, version, folder] = process.argv.slice(2);

// Far more than all of it takes: nothing may hang.
const patienceMs = 100_000;
// A session that nobody had, and what both clients raise about it.
const nobody = "00000000-0000-4000-8000-000000000000";
const nobodyWords = `No conversation found with session ID: ${nobody}`;

/** One scenario in a folder of its own. */
class Story {
  sessions = [];

  constructor(name) {
    this.folder = join(folder, name);
    mkdirSync(this.folder, { recursive: true });
    console.log(`# ${name}`);
  }

  /** A launch of the program that plays this scene. What the understudy is told goes past the client, through the environment. */
  options(scene, more = {}) {
    const env = {
      ...process.env,
      REHEARSAL_SCENE: scene,
      REHEARSAL_VERSION: version,
      REHEARSAL_BREACHES: join(this.folder, "breaches"),
      CLAUDE_CONFIG_DIR: join(this.folder, "config"),
    };
    return { pathToClaudeCodeExecutable: program, cwd: this.folder, model: "haiku", env, ...more };
  }

  /** Tells a message. */
  saw(message) {
    switch (message.type) {
      case "system":
        if (message.subtype !== "init") return this.line("system", message.subtype);
        assert.equal(message.claude_code_version, version);
        this.sessions.push(message.session_id);
        return this.line("init", message.model, message.permissionMode);
      case "assistant":
      case "user":
        if (typeof message.message.content === "string") return this.line(message.type, JSON.stringify(message.message.content));
        for (const block of message.message.content) this.block(message.type, block);
        return;
      case "result":
        this.sessions.push(message.session_id);
        return this.line(
          "result",
          message.subtype,
          message.is_error ? "error" : "fine",
          "result" in message ? JSON.stringify(message.result) : "",
          ...message.permission_denials.map((denial) => `denied=${denial.tool_name}`),
        );
      case "stream_event":
        return;
      default:
        return this.line("unexpected", JSON.stringify(message));
    }
  }

  /** Tells one block of a message. */
  block(who, block) {
    switch (block.type) {
      case "thinking":
        return this.line(who, "thinks");
      case "text":
        return this.line(who, JSON.stringify(block.text));
      case "tool_use":
        return this.line(who, "calls", block.name, block.input.command);
      case "tool_result":
        // Only the first sentence: what follows is prose that versions word differently.
        return this.line(who, "tool", block.is_error ? "failed" : "gave", JSON.stringify(String(block.content).split(". ")[0]));
      default:
        return this.line(who, JSON.stringify(block));
    }
  }

  /** Tells one line. */
  line(...words) {
    console.log(" ", words.filter(Boolean).join(" "));
  }

  /** Tells what holds for the whole of it. */
  end() {
    this.line("sessions:", String(new Set(this.sessions).size));
    const breaches = join(this.folder, "breaches");
    if (existsSync(breaches)) for (const breach of readFileSync(breaches, "utf8").trimEnd().split("\n")) this.line("breach:", breach);
  }
}

/** The prompts of a user who types the next one when the last turn is over. */
class Prompts {
  #waiting = [];
  #wake = () => {};

  say(text) {
    this.#waiting.push(text);
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const content = this.#waiting.shift();
      if (content === null) return;
      if (content) yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
      else await new Promise((wake) => (this.#wake = wake));
    }
  }

  end() {
    this.say(null);
  }
}

async function oneShot() {
  const story = new Story("one shot");
  for await (const message of query({ prompt: "Run echo.", options: story.options("bash", { allowedTools: ["Bash"] }) })) story.saw(message);
  story.end();
}

async function turnsOnOneConnection() {
  const story = new Story("turns on one connection");
  const prompts = new Prompts();
  const later = ["And again."];
  prompts.say("Say hello.");
  for await (const message of query({ prompt: prompts, options: story.options("second-turn") })) {
    story.saw(message);
    if (message.type !== "result") continue;
    const next = later.shift();
    if (next) prompts.say(next);
    else prompts.end();
  }
  story.end();
}

async function permission(name, answer) {
  const story = new Story(`permission ${name}`);
  const asked = [];
  const canUseTool = async (tool, input) => {
    asked.push(`${tool} ${input.command}`);
    return answer(input);
  };
  const options = story.options(`permission-${name}`, { canUseTool });
  const prompts = new Prompts();
  prompts.say("Touch a file.");
  for await (const message of query({ prompt: prompts, options })) {
    story.saw(message);
    if (message.type === "result") prompts.end();
  }
  story.line("asked:", asked.join(", "));
  story.end();
}

async function interrupt() {
  const story = new Story("interrupt");
  const more = { includePartialMessages: true, permissionMode: "acceptEdits", allowedTools: ["Bash"] };
  const prompts = new Prompts();
  const later = ["Are you there?"];
  prompts.say("Sleep.");
  const running = query({ prompt: prompts, options: story.options("interrupt-during-bash", more) });
  let stopped;
  for await (const message of running) {
    story.saw(message);
    if (message.type === "stream_event" && message.event.type === "message_stop") stopped ??= running.interrupt();
    if (message.type !== "result") continue;
    await stopped;
    const next = later.shift();
    if (next) prompts.say(next);
    else prompts.end();
  }
  story.end();
}

async function resume() {
  const story = new Story("resume");
  for await (const message of query({ prompt: "Say hello.", options: story.options("plain-turn") })) story.saw(message);
  const options = story.options("resume", { resume: story.sessions[0] });
  for await (const message of query({ prompt: "Go on.", options })) story.saw(message);
  story.end();
}

async function resumeOfNothing() {
  const story = new Story("resume of nothing");
  try {
    // This client raises after it has handed out the result that says so, the other one before it.
    for await (const _ of query({ prompt: "Go on.", options: story.options("resume", { resume: nobody }) }));
  } catch (error) {
    story.line("raised:", error.message.includes(nobodyWords) ? nobodyWords : error.message);
  }
  story.end();
}

async function controlRequests() {
  const story = new Story("control requests");
  const prompts = new Prompts();
  const running = query({ prompt: prompts, options: story.options("plain-turn") });
  const commands = await running.supportedCommands();
  const models = await running.supportedModels();
  story.line("commands:", commands.length ? "yes" : "no", "models:", models.length ? "yes" : "no");
  story.line("mcp servers:", JSON.stringify(await running.mcpServerStatus()));
  story.line("context:", String((await running.getContextUsage()).percentage), "%");
  await running.setModel("sonnet");
  await running.setPermissionMode("acceptEdits");
  prompts.say("Say hello.");
  for await (const message of running) {
    story.saw(message);
    if (message.type === "result") prompts.end();
  }
  story.end();
}

async function manyOptions() {
  const story = new Story("many options");
  const options = story.options("plain-turn", {
    additionalDirectories: [story.folder],
    betas: ["context-1m-2025-08-07"],
    disallowedTools: ["WebSearch"],
    effort: "low",
    fallbackModel: "sonnet",
    includeHookEvents: true,
    maxBudgetUsd: 1,
    maxTurns: 3,
    sessionId: "00000000-0000-4000-8000-000000000001",
    settingSources: [],
    settings: "{}",
    strictMcpConfig: true,
    systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief." },
    taskBudget: { total: 100_000 },
    thinking: { type: "adaptive", display: "summarized" },
    tools: { type: "preset", preset: "claude_code" },
  });
  for await (const message of query({ prompt: "Say hello.", options })) story.saw(message);
  story.line("session:", ...new Set(story.sessions));
  story.end();
}

setTimeout(() => {
  console.error(`nothing more came in ${patienceMs} ms`);
  process.exit(1);
}, patienceMs).unref();
await oneShot();
await turnsOnOneConnection();
await permission("allow", (input) => ({ behavior: "allow", updatedInput: input }));
await permission("deny", () => ({ behavior: "deny", message: "Not here." }));
await interrupt();
await resume();
await resumeOfNothing();
await controlRequests();
await manyOptions();
