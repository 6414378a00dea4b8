import { expect, onTestFinished, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { SessionId } from "../../src/task/id.ts"
import type { CrashPoint } from "../support/chaos/mortal-engine.ts"
import { openLife } from "../support/chaos/open-life.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const SESSION = "baker" as SessionId
const START = {
  tool: "start_task",
  input: { tool: "echo", input: { value: "bread" }, group: "bakery", seal: true },
}

const start = (value: string) => ({ tool: "start_task", input: { tool: "echo", input: { value } } })
const ONE = [{ ...START, id: "call-1" }]
const SIBLINGS = [
  { ...start("bread"), id: "call-1" },
  { ...start("cake"), id: "call-2" },
]
type Calls = typeof ONE | typeof SIBLINGS

/** Answers any request: makes the calls once, and then says so. */
function* bake(calls: Calls): Generator<ScriptStep> {
  for (;;) yield ({ messages }) => (resultsOf(messages).length === 0 ? { calls } : "Done.")
}

interface LifeWish {
  readonly calls: Calls
  readonly crash?: CrashPoint
}

async function begin(folder: string, number: number, { calls, crash }: LifeWish) {
  const opened = await openLife(folder, number, crash, () => ({
    model: createScriptedModel(bake(calls)),
    plugins: [
      definePlugin({ kind: "tool", name: "test", tools: [{ ...echo, onCrash: "retry" }] }),
      createBackgroundPlugin(),
    ],
  }))
  onTestFinished(() => opened.engine.close())
  return opened
}

/** True if the process crashed before all was done. */
async function liveOnce(folder: string, wish: LifeWish): Promise<boolean> {
  const { life, runtime: opening } = await begin(folder, 1, wish)
  const lived = opening.then(async (runtime) => {
    const session = await runtime.createSession({ id: SESSION })
    await session.send("bake")
    await finishTurn(runtime)
    await runtime.close()
    return false
  })
  return Promise.race([lived, life.over.then(() => true)])
}

/** Runs once for each commit, with a crash at it, and then once more without. */
async function* liveThroughEach(when: CrashPoint["when"], calls: Calls) {
  let hasCrashed = true
  for (let number = 1; hasCrashed; number += 1) {
    const folder = createFolder()
    hasCrashed = await liveOnce(folder, { calls, crash: { at: "commit", number, when } })
    const { engine, runtime: opening } = await begin(folder, 2, { calls })
    const runtime = await opening
    if (!(await engine.store.session(SESSION))) await runtime.createSession({ id: SESSION })
    const session = await runtime.openSession(SESSION)
    await finishTurn(runtime)
    if (session.history().length === 0) await session.send("bake")
    await finishTurn(runtime)
    const { items } = await runtime.tasks.list({ session: SESSION, kinds: ["tool"] })
    yield { runtime, items, answers: resultsOf(session.history()).map(resultText) }
    await runtime.close()
  }
}

test.each(["before", "after"] as const)(
  "a start that a crash cuts off %s any commit starts one task, in one sealed group",
  async (when) => {
    for await (const { runtime, items, answers } of liveThroughEach(when, ONE)) {
      expect(items.map(({ status }) => status)).toEqual(["completed"])
      const groups = await runtime.tasks.groups.list({ session: SESSION })
      expect(groups.map(({ state, memberCount }) => [state, memberCount])).toEqual([["joined", 1]])
      expect(answers).toEqual([expect.stringContaining(items[0]?.id.slice(0, 8) ?? "")])
    }
  },
)

test.each(["before", "after"] as const)(
  "two starts of one answer that a crash cuts off %s any commit start a task each, and each gets its own answer",
  async (when) => {
    for await (const { runtime, items, answers } of liveThroughEach(when, SIBLINGS)) {
      const tasks = await Promise.all(items.map(async ({ id }) => (await runtime.tasks.get(id)).task))
      const tasksOf = (value: string) => tasks.filter(({ input }) => JSON.stringify(input).includes(value))
      expect(tasks).toHaveLength(2)
      expect(["bread", "cake"].map((value) => tasksOf(value).length)).toEqual([1, 1])
      const ids = ["bread", "cake"].map((value) => tasksOf(value)[0]?.id.slice(0, 8) ?? "none")
      expect(answers).toHaveLength(2)
      expect(ids.map((id) => answers.findIndex((answer) => answer.includes(id)))).toEqual([0, 1])
    }
  },
)
