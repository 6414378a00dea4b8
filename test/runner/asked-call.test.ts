import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import type { PermissionDecision } from "../../src/plugin/permission-request.ts"
import type { ExecuteOptions } from "../../src/plugin/task-service.ts"
import { beginRunnerLife } from "../support/runner-life.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const INBOX: PermissionDecision = { allowed: "ask", question: { kind: "approval", text: "May it?" }, expiresInMs: null }

const DECISIONS: readonly [string, PermissionDecision][] = [
  ["allowed", { allowed: true }],
  ["to wait in the inbox", INBOX],
]

async function openAsked(decision: PermissionDecision) {
  const gated = createGatedTool({ obeys: true })
  const permission = { decide: async () => decision }
  const { runner } = await beginRunnerLife(createFolder(), { tools: [gated.tool], permission })
  const execute = (options: ExecuteOptions) => runner.execute({ tool: "gated", input: {} }, options)
  return { gated, runner, execute }
}

test.each(DECISIONS)(
  "a call begins, or is written, only once the decision about it is kept (%s)",
  async (_, decision) => {
    const { gated, execute } = await openAsked(decision)
    const told: string[] = []
    const { answer } = execute({
      async onAsked() {
        for (let turn = 0; turn < 5; turn++) await nextTurn()
        told.push("asked")
      },
      async onDecided() {
        told.push("decided")
        return undefined
      },
    })
    if (decision.allowed === true) (await gated.call(1)).finish()
    await answer
    expect(told).toEqual(["asked", "decided"])
  },
)

test.each(DECISIONS)(
  "a call that is cancelled while the decision about it is written does not begin (%s)",
  async (_, decision) => {
    const { gated, runner, execute } = await openAsked(decision)
    const isDecided = Promise.withResolvers<void>()
    const written = Promise.withResolvers<undefined>()
    const execution = execute({
      onAsked: async () => {},
      onDecided() {
        isDecided.resolve()
        return written.promise
      },
    })
    await isDecided.promise
    execution.cancel({ reason: "it is not wanted" })
    written.resolve(undefined)
    await expect(execution.answer).rejects.toThrow("it is not wanted")
    expect(gated.calls).toEqual([])
    expect((await runner.list({})).items).toEqual([])
  },
)
