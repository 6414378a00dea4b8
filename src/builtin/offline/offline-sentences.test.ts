import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { callsOf, textOf, userMessage } from "../../plugin/message.ts"
import type { ModelTool, ProviderResponse } from "../../plugin/model.ts"
import { createOfflineProvider } from "./offline-provider.ts"
import { RULES } from "./sentence.ts"

const toolNames = [...new Set(RULES.flatMap(({ tools }) => tools))]
const tool = (name: string): ModelTool => ({ name, description: "A tool.", inputSchema: { type: "object" } })
const TOOLS: readonly ModelTool[] = toolNames.map(tool)

async function say(sentence: string, tools = TOOLS): Promise<ProviderResponse> {
  const clock = createManualClock()
  const impatient = { ...clock, schedule: (_delayMs: number, callback: () => void) => (callback(), () => {}) }
  const model = await createOfflineProvider({ clock: impatient }).connect("rules")
  const { signal } = new AbortController()
  return model.generate({ system: "", messages: [userMessage(sentence)], tools, signal })
}

const callsIn = ({ message }: ProviderResponse) => callsOf(message).map(({ tool, input }) => ({ tool, input }))
const run = (command: string) => ({ tool: "run_command", input: { command } })

/** The duty of each documented example: say something like this, or make exactly these calls. */
const EXPECTED: Readonly<Record<string, RegExp | readonly unknown[]>> = {
  help: /I am the offline model.*run COMMAND.*undo the change/s,
  "who are you": /a list of rules, not a language model/,
  "what tools do you have": /I am offered: .*run_command/,
  "say TEXT": /^good morning$/,
  "think about TEXT": /thought about the weather/,
  "count to NUMBER slowly": /^1 2 3$/,
  "count to NUMBER": /^1 2 3 4 5$/,
  "call TOOL with JSON": [{ tool: "readFile", input: { path: "notes.txt" } }],
  "run COMMAND and COMMAND": [run("sleep 12 && echo done"), run("date")],
  "run COMMAND": [run("sleep 12 && echo done")],
  "start COMMAND in the background": [
    { tool: "start_task", input: { tool: "run_command", input: { command: "npm ci" } } },
  ],
  "start an agent to TASK": [{ tool: "start_agent", input: { task: "run `npm test`" } }],
  "run COMMAND and COMMAND together": ["npm test", "npm run check", "npm run build"].map((command) => ({
    tool: "start_task",
    input: { tool: "run_command", input: { command }, group: "together" },
  })),
  "wait for task ID": [{ tool: "wait_for", input: { tasks: ["3f2a"] } }],
  "tell task ID TEXT": [{ tool: "send_to_task", input: { task_id: "3f2a", message: "say hello" } }],
  "cancel group NAME": [{ tool: "cancel_task", input: { group: "checks" } }],
  "list background tasks": [{ tool: "list_tasks", input: {} }],
  "show task ID": [{ tool: "get_task", input: { task_id: "3f2a" } }],
  "cancel task ID": [{ tool: "cancel_task", input: { task_id: "3f2a" } }],
  "read file PATH": [{ tool: "readFile", input: { path: "notes.txt" } }],
  "write file PATH with TEXT": [{ tool: "writeNewFile", input: { path: "notes.txt", content: "buy milk" } }],
  "update file PATH with TEXT": [{ tool: "updateFile", input: { path: "notes.txt", new_content: "buy bread" } }],
  "replace OLD with NEW in file PATH": [
    { tool: "updateFile", input: { path: "notes.txt", old_text: "milk", new_text: "tea" } },
  ],
  "remove file PATH": [{ tool: "removeFile", input: { path: "notes.txt" } }],
  "undo the change to PATH": [{ tool: "undoFileChange", input: { path: "notes.txt" } }],
  "look at image PATH": [{ tool: "viewImage", input: { path: "chart.png" } }],
  "fetch URL": [{ tool: "fetch_url", input: { url: "https://example.com/" } }],
  "make a plan TITLE: STEP, STEP and STEP": [
    { tool: "createPlan", input: { title: "release", steps: ["build", "test", "publish"] } },
  ],
  "mark step NUMBER STATUS": [{ tool: "updateStep", input: { step: 2, status: "completed" } }],
  "show the plan": [{ tool: "getPlanStatus", input: {} }],
  "list references": [{ tool: "listReferences", input: {} }],
  "select references ID and ID": [{ tool: "selectReferences", input: { ids: ["style", "api"] } }],
  "ask a subagent to TASK": [{ tool: "spawn_subagent", input: { task: "run `date`" } }],
  "list profiles": [{ tool: "list_subagent_profiles", input: {} }],
  "ask me QUESTION": [
    {
      tool: "request_clarification",
      input: {
        context: "The person asked to be asked.",
        questions: [{ question: "which colour", options: ["red", "green", "blue"] }],
      },
    },
  ],
  "ask permission to use TOOL because REASON": [
    { tool: "askPermission", input: { tool: "removeFile", reason: "it is old" } },
  ],
  "use the command NAME with ARGUMENTS": [
    { tool: "processCommand", input: { command_name: "review", args: "main.ts" } },
  ],
  "describe this session as TEXT": [{ tool: "session_describe", input: { description: "planning the release" } }],
}

describe("every sentence of the offline model", () => {
  test.each(RULES.map((rule) => [rule.sentence, rule.example] as const))(
    "%s, such as: %s",
    async (sentence, example) => {
      const answer = await say(example)
      const expected = EXPECTED[sentence]
      if (expected instanceof RegExp)
        expect([textOf(answer.message), callsIn(answer)]).toEqual([expect.stringMatching(expected), []])
      else expect(callsIn(answer)).toEqual(expected)
    },
  )

  test.each(RULES.filter(({ tools }) => tools.length > 0).map(({ example, tools }) => [example, tools[0]] as const))(
    "%s without its tool: it says that there is no %s",
    async (example, tool) => {
      const answer = await say(example, [])
      expect(callsIn(answer)).toEqual([])
      expect(textOf(answer.message)).toContain(`I have no tool named ${tool} here`)
    },
  )

  test("stands in the guide as it is in the table", () => {
    const guide = readFileSync(new URL("../../../docs/guide/offline-model.md", import.meta.url), "utf8")
    const documented = guide.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| sentence"))
    const rows = RULES.map(({ sentence, example, meaning, tools }) => {
      const needed = tools.length > 0 ? tools.map((tool) => `\`${tool}\``).join(", ") : "–"
      return `| ${sentence} | ${example} | ${meaning} | ${needed} |`
    })
    expect(documented).toEqual(rows)
  })
})

describe("a sentence", () => {
  test.each([
    ["please run ls -la", [run("ls -la")]],
    ["Run echo one and echo two", [run("echo one"), run("echo two")]],
    ["run `a`, `b` and `c`", [run("a"), run("b"), run("c")]],
    ["run grep 'salt and pepper' recipe.txt", [run("grep 'salt and pepper' recipe.txt")]],
    ["wait for the tasks", [{ tool: "wait_for", input: {} }]],
    [
      "run `a` and `b` together as checks",
      ["a", "b"].map((command) => ({
        tool: "start_task",
        input: { tool: "run_command", input: { command }, group: "checks" },
      })),
    ],
    ["run `echo this and that`", [run("echo this and that")]],
    ["run echo don't and echo do", [run("echo don't"), run("echo do")]],
    ["could you please read file `my notes.txt`", [{ tool: "readFile", input: { path: "my notes.txt" } }]],
    ["write file a.txt with one\ntwo", [{ tool: "writeNewFile", input: { path: "a.txt", content: "one\ntwo" } }]],
    [
      "ask the reviewer subagent to say hi",
      [{ tool: "spawn_subagent", input: { task: "say hi", profile: "reviewer" } }],
    ],
    ["make a plan: build; test, twice", [{ tool: "createPlan", input: { steps: ["build", "test, twice"] } }]],
  ])("%j is understood", async (sentence, calls) => {
    expect(callsIn(await say(sentence))).toEqual(calls)
  })

  test.each(["call readFile with {path}", 'call readFile with ["a"]'])(
    "%s is answered with what is wrong",
    async (sentence) => {
      const answer = await say(sentence)
      expect([callsIn(answer), textOf(answer.message)]).toEqual([[], expect.stringMatching(/not JSON|is an object/)])
    },
  )

  test("gets the names that the offered tool has for the same input", async () => {
    const inputSchema = { type: "object", properties: { file_path: { type: "string" } } }
    const answer = await say("read file a.txt", [{ name: "readFile", description: "Reads.", inputSchema }])
    expect(callsIn(answer)).toEqual([{ tool: "readFile", input: { file_path: "a.txt" } }])
  })

  test("that starts something in the background is run when tasks cannot be started", async () => {
    const tools = TOOLS.filter(({ name }) => name === "run_command")
    const answer = await say("start `npm ci` in the background", tools)
    expect(callsIn(answer)).toEqual([run("npm ci")])
    expect(textOf(answer.message)).toContain("moves to the background when it takes long")
  })

  test.each([
    ["startBackgroundTask", { tool_name: "run_command", arguments: { command: "npm ci" } }],
    ["tasks.spawn", { mode: "job", tool_name: "run_command", tool_args: { command: "npm ci" } }],
    ["background_task", { description: "run `npm ci`", prompt: "run `npm ci`" }],
  ])("that starts something in the background does so by %s when that is offered", async (name, input) => {
    const tools = [...TOOLS.filter(({ name: other }) => other === "run_command"), tool(name)]
    expect(callsIn(await say("start `npm ci` in the background", tools))).toEqual([{ tool: name, input }])
    if (name === "startBackgroundTask") return
    expect(callsIn(await say("start an agent to say hi", tools))).toMatchObject([{ tool: name }])
  })

  test("may call a tool whose name has dots", async () => {
    const answer = await say("call tasks.list_groups with {}", [tool("tasks.list_groups")])
    expect(callsIn(answer)).toEqual([{ tool: "tasks.list_groups", input: {} }])
  })

  test("that is in no list is answered with what the model is and how to see the list", async () => {
    const answer = await say("write me a poem about the sea")
    expect(textOf(answer.message)).toMatch(/a list of rules, not a language model.*poem about the sea.*"help"/s)
  })
})
