import { expect, onTestFinished, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { SessionId } from "../../src/task/id.ts"
import type { CrashPoint } from "../chaos/mortal-engine.ts"
import { openLife } from "../chaos/open-life.ts"
import { finishTurn } from "../chaos/turn-scenario.ts"
import { resultsOf, resultText } from "../session/support/open-agent.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const SESSION = "baker" as SessionId
const START = {
  tool: "start_task",
  input: { tool: "echo", input: { value: "bread" }, group: "bakery", seal: true },
}

/** Whatever is asked: the task is started once, and then it is said. */
function* bake(): Generator<ScriptStep> {
  for (;;)
    yield ({ messages }) => (resultsOf(messages).length === 0 ? { calls: [{ ...START, id: "call-1" }] } : "Done.")
}

async function begin(folder: string, number: number, crash?: CrashPoint) {
  const opened = await openLife(folder, number, crash, () => ({
    model: createScriptedModel(bake()),
    plugins: [
      definePlugin({ kind: "tool", name: "test", tools: [{ ...echo, onCrash: "retry" }] }),
      createBackgroundPlugin(),
    ],
  }))
  onTestFinished(() => opened.engine.close())
  return opened
}

/** True when the life came to its end before all was done. */
async function liveOnce(folder: string, crash: CrashPoint): Promise<boolean> {
  const { life, runtime: opening } = await begin(folder, 1, crash)
  const lived = opening.then(async (runtime) => {
    const session = await runtime.createSession({ id: SESSION })
    await session.send("bake")
    await finishTurn(runtime)
    await runtime.close()
    return false
  })
  return Promise.race([lived, life.over.then(() => true)])
}

test.each(["before", "after"] as const)(
  "a start that a crash cuts off %s any commit starts one task, in one sealed group",
  async (when) => {
    let hasCrashed = true
    for (let number = 1; hasCrashed; number += 1) {
      const folder = createFolder()
      hasCrashed = await liveOnce(folder, { at: "commit", number, when })
      const { engine, runtime: opening } = await begin(folder, 2)
      const runtime = await opening
      if (!(await engine.store.session(SESSION))) await runtime.createSession({ id: SESSION })
      const session = await runtime.openSession(SESSION)
      await finishTurn(runtime)
      if (session.history().length === 0) await session.send("bake")
      await finishTurn(runtime)
      const { items } = await runtime.tasks.list({ session: SESSION, kinds: ["tool"] })
      expect(items.map(({ status }) => status)).toEqual(["completed"])
      const groups = await runtime.tasks.groups.list({ session: SESSION })
      expect(groups.map(({ state, memberCount }) => [state, memberCount])).toEqual([["joined", 1]])
      const [answer, ...more] = resultsOf(session.history()).map(resultText)
      expect(more).toEqual([])
      expect(answer).toContain(items[0]?.id.slice(0, 8))
      await runtime.close()
    }
  },
)
