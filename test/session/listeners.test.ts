import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { createClient } from "../../src/library.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

const FAILURES = {
  throws(): void {
    throw new Error("broken")
  },
  rejects: async () => Promise.reject(new Error("broken")),
}
const CALL = { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }

function noteUnhandled(): readonly unknown[] {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on("unhandledRejection", note)
  onTestFinished(() => void process.off("unhandledRejection", note))
  return unhandled
}

for (const [how, fail] of Object.entries(FAILURES)) {
  test.each(PLACES)(
    `a listener that ${how}, wherever it listens, is logged and harms nobody (%s)`,
    async (_, isKept) => {
      const unhandled = noteUnhandled()
      const warned: string[] = []
      const log = { ...silentLog, warn: (message: string) => void warned.push(message) }
      const { session, runtime } = await openAgent([CALL, "Three."], { isKept, tools: [add], log, onEvent: fail })
      session.on(fail)
      runtime.on(fail)
      runtime.plugins.onChange(fail)
      const desk = runtime.desk({ workspace: session.workspace, actor: "me" })
      desk.on(fail)
      expect((await session.send("go", { onOutput: fail })).text).toBe("Three.")
      await runtime.plugins.register(definePlugin({ kind: "tool", name: "late", tools: [] }))
      const listening = { onOutput: fail, onProgress: fail, onStarted: fail }
      const call = { tool: "add", input: { a: 1, b: 2 } }
      expect(await runtime.tasks.execute(call, listening).answer).toMatchObject({ outcome: "completed" })
      await setImmediate()
      expect(unhandled).toEqual([])
      expect(warned).toContain("a listener failed")
    },
  )

  test(`the hooks of a client of which one ${how} fail nothing`, async () => {
    const unhandled = noteUnhandled()
    const client = createClient()
    client.setUiHooks({ onAgentCreated: fail, onAgentOutput: fail, onAgentTurnCompleted: fail })
    await client.connect({ model: createScriptedModel(["one"]), environment: {} })
    onTestFinished(() => client.close())
    expect(await client.sendMessage("a", fail)).toBe("one")
    await setImmediate()
    expect(unhandled).toEqual([])
  })

  test(`a listener of a call's progress that ${how} does the tool no harm`, async () => {
    const unhandled = noteUnhandled()
    const reports = {
      ...add,
      name: "reports",
      run: async (
        _: unknown,
        context: { progress: (told: object) => void; output: { write: (text: string) => void } },
      ) => {
        context.progress({ fraction: 0.5 })
        context.output.write("half\n")
        return "done"
      },
    }
    const { runtime } = await openAgent([], { tools: [reports] })
    const listening = { onOutput: fail, onProgress: fail }
    const answer = await runtime.tasks.execute({ tool: "reports", input: { a: 1, b: 2 } }, listening).answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { digest: ["done"] } })
    await setImmediate()
    expect(unhandled).toEqual([])
  })
}
