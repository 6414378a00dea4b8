import { expect, onTestFinished, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import type { SessionId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import type { CrashPoint } from "../support/chaos/mortal-engine.ts"
import { openLife } from "../support/chaos/open-life.ts"
import { finishTurn } from "../support/chaos/turn-scenario.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { WORKER } from "../support/session/open-subagents.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"

const SESSION = "asker" as SessionId
const FOLLOW_UP = "And the folders?"

/** Answers any request: launches one agent, asks it a follow-up once, and then says so. */
function* ask(): Generator<ScriptStep> {
  for (;;) yield toAnswer
}

function toAnswer({ messages }: ModelRequest): ScriptStep {
  const results = resultsOf(messages).map(resultText)
  const isMore = JSON.stringify(messages).includes("ask it more")
  if (results.length === 0) {
    const input = { description: "Count", prompt: "Count the files.", agent: "worker" }
    return { calls: [{ tool: "background_task", id: "call-1", input }] }
  }
  if (results.length > 1 || !isMore) return "Done."
  const { task_id: resume } = JSON.parse(results[0] ?? "{}") as { task_id: string }
  return { calls: [{ tool: "background_task", id: "call-2", input: { resume, prompt: FOLLOW_UP } }] }
}

async function begin(folder: string, number: number, crash?: CrashPoint) {
  const opened = await openLife(folder, number, crash, () => ({
    model: createScriptedModel(ask()),
    plugins: [
      createScriptedProvider("script", { below: repeat("As you say.") }),
      createSubagentPlugin({ directories: [], profiles: [WORKER] }),
      createBackgroundPlugin({ vocabulary: "opencode" }),
    ],
  }))
  onTestFinished(() => opened.engine.close())
  return opened
}

function* repeat(step: ScriptStep): Generator<ScriptStep> {
  for (;;) yield step
}

async function agentOf(runtime: Runtime) {
  const { items } = await runtime.tasks.list({ session: SESSION, kinds: ["agent"] })
  expect(items).toHaveLength(1)
  const [task] = items
  return task && isTerminal(task.status) && task
}

async function launch(folder: string): Promise<void> {
  const runtime = await (await begin(folder, 1)).runtime
  await (await runtime.createSession({ id: SESSION })).send("count")
  await eventually("the agent is done", () => agentOf(runtime))
  await runtime.close()
}

/** True if the process crashed before all was done. */
async function askMore(folder: string, crash: CrashPoint): Promise<boolean> {
  const { life, runtime: opening } = await begin(folder, 2, crash)
  const lived = opening.then(async (runtime) => {
    await (await runtime.openSession(SESSION)).send("ask it more")
    await eventually("the agent is done", () => agentOf(runtime))
    await runtime.close()
    return false
  })
  return Promise.race([lived, life.over.then(() => true)])
}

test.each(["before", "after"] as const)(
  "a follow-up that a crash cuts off %s any commit is sent once, or the model is told that it was not answered",
  async (when) => {
    let hasCrashed = true
    let number = 1
    for (; hasCrashed; number += 1) {
      const folder = createFolder()
      await launch(folder)
      hasCrashed = await askMore(folder, { at: "commit", number, when })
      const { engine, runtime: opening } = await begin(folder, 3)
      const { store } = engine
      const runtime = await opening
      const session = await runtime.openSession(SESSION)
      await finishTurn(runtime)
      const task = await eventually("the agent is done", () => agentOf(runtime))
      const childId = (await store.sessions({ workspace: task.workspace }, { limit: 10 })).items.find(
        ({ id }) => id !== SESSION,
      )?.id
      const kept = childId ? await store.messages(childId, 0, 100) : []
      const times = kept.filter(({ body }) => JSON.stringify(body).includes(FOLLOW_UP)).length
      const [, answer = ""] = resultsOf(session.history()).map(resultText)
      expect(times).toBe(task.resumeCount)
      expect(times).toBeLessThanOrEqual(1)
      if (answer.includes('"status":"resumed"')) expect(times).toBe(1)
      await runtime.close()
    }
    expect(number).toBeGreaterThan(10)
  },
)
