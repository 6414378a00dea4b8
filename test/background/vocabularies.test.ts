import { describe, expect, test } from "vitest"
import type { JsonObject } from "../../src/base/json.ts"
import { createBackgroundPlugin, type VocabularyName } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptedCall, ScriptStep } from "../../src/builtin/scripted/script.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { openAgent, resultsOf, resultText } from "../support/session/open-agent.ts"
import { WORKER } from "../support/session/open-subagents.ts"
import { createGate } from "../support/session/gate.ts"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { createGatedCommand } from "../support/background/open-background.ts"
import { eventually } from "../support/eventually.ts"

/** The same operations in the words of each vocabulary. `start` begins work that ends when it is stopped. */
const WORDS: Readonly<
  Record<
    VocabularyName,
    {
      readonly start: (name: string) => ScriptedCall
      readonly look: (id: string) => ScriptedCall
      readonly cancel: (id: string) => ScriptedCall
      readonly list: string
    }
  >
> = {
  meanwhile: {
    start: (name) => ({ tool: "start_task", input: { tool: "run_command", input: { name } } }),
    look: (id) => ({ tool: "get_task", input: { task_id: id } }),
    cancel: (id) => ({ tool: "cancel_task", input: { task_id: id } }),
    list: "list_tasks",
  },
  jaato: {
    start: (name) => ({ tool: "startBackgroundTask", input: { tool_name: "run_command", arguments: { name } } }),
    look: (id) => ({ tool: "getBackgroundTaskStatus", input: { task_id: id } }),
    cancel: (id) => ({ tool: "cancelBackgroundTask", input: { task_id: id } }),
    list: "listBackgroundTasks",
  },
  opencode: {
    start: (name) => ({ tool: "background_task", input: { description: name, prompt: name, agent: "worker" } }),
    look: (id) => ({ tool: "background_output", input: { task_id: id } }),
    cancel: (id) => ({ tool: "background_cancel", input: { task_id: id } }),
    list: "background_list",
  },
  penguiflow: {
    start: (name) => ({
      tool: "tasks.spawn",
      input: { mode: "job", tool_name: "run_command", tool_args: { name } },
    }),
    look: (id) => ({ tool: "tasks.get", input: { task_id: id } }),
    cancel: (id) => ({ tool: "tasks.cancel", input: { task_id: id } }),
    list: "tasks.list",
  },
}

const NAMES = Object.keys(WORDS) as readonly VocabularyName[]
const othersOf = (name: VocabularyName) => NAMES.filter((other) => other !== name)

/** One conversation whose model has the tools of all vocabularies, each as a plugin of its own. */
async function openAll(script: readonly ScriptStep[]) {
  const gate = createGate()
  const work: ScriptStep = () => ({ gate: gate.pass(), text: "late" })
  const command = createGatedCommand()
  const agent = await openAgent(script, {
    isKept: true,
    plugins: [
      definePlugin({ kind: "tool", name: "shell", tools: [command.tool] }),
      createScriptedProvider("script", { below: [work, work, work] }),
      createSubagentPlugin({ directories: [], profiles: [WORKER] }),
      ...NAMES.map((name) =>
        definePlugin({ ...createBackgroundPlugin({ vocabulary: name }), name: `background_${name}` }),
      ),
    ],
  })
  const answers = () => resultsOf(agent.session.history()).map(resultText)
  async function tasks() {
    const { items } = await agent.runtime.tasks.list({ session: agent.session.id, kinds: ["tool", "agent"] })
    return items.toReversed()
  }
  return { ...agent, answers, tasks }
}

describe.each(NAMES)("a task that was started in the words of %s", (name) => {
  test.each(othersOf(name))("is seen, listed and stopped in those of %s, under the same id", async (other) => {
    const words = WORDS[other]
    const about = (toCall: (id: string) => ScriptedCall) => async (): Promise<ScriptStep> => {
      const [task] = await agent.tasks()
      return { calls: [toCall(task?.id ?? "none")] }
    }
    const agent = await openAll([
      { calls: [WORDS[name].start("dig")] },
      "It runs.",
      { calls: [{ tool: words.list }] },
      about(words.look),
      about(words.cancel),
      "Stopped.",
    ])
    await agent.session.send("dig")
    const running = await eventually("it runs", async () =>
      (await agent.tasks()).find(({ status }) => status === "running"),
    )
    await agent.session.send("stop it")
    const [started, list, seen, stopped] = agent.answers()
    const shortId = running.id.slice(0, 8)
    for (const told of [started, list, seen, stopped]) expect(told).toContain(shortId)
    expect(toStatus(seen)).toBe("running")
    await eventually("it is stopped", async () => (await agent.tasks())[0]?.status === "cancelled")
    expect(await agent.tasks()).toHaveLength(1)
  })
})

test("no two vocabularies have a tool of the same name, so that none is taken for another", async () => {
  const { session } = await openAll([])
  const names = session.tools().map(({ name }) => name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  expect(names).toEqual(expect.arrayContaining(["start_task", "startBackgroundTask", "background_task", "tasks.spawn"]))
})

test("a prefix of several ids is refused in every vocabulary, with the candidates", async () => {
  const agent = await openAll([
    async () => ({ calls: NAMES.map((name) => WORDS[name].look(prefix)) }),
    "Which of them?",
  ])
  // Of seventeen ids, two must begin with the same of the sixteen hexadecimal digits.
  const starts = Array.from({ length: 17 }, (_, index) => ({ tool: "run_command", input: { name: String(index) } }))
  const ids = await Promise.all(starts.map(async (call) => (await agent.runtime.tasks.start(call)).id))
  const digits = ids.map((id) => id.slice(0, 1))
  const prefix = digits.find((digit, index) => digits.indexOf(digit) !== index) ?? ""
  await agent.session.send("look")
  const candidates = ids.filter((id) => id.startsWith(prefix))
  expect(agent.answers()).toHaveLength(NAMES.length)
  for (const told of agent.answers()) {
    expect(candidates.filter((id) => told.includes(id.slice(0, 8))).length).toBeGreaterThanOrEqual(2)
  }
})

function toStatus(text: string | undefined): unknown {
  return (JSON.parse(text ?? "{}") as JsonObject)["status"]
}
