import { join } from "node:path"
import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { NO_TOKENS } from "../../src/plugin/token-usage.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents } from "../support/session/open-subagents.ts"

const READ: ScriptStep = { calls: [{ tool: "read" }] }
/** Every scripted call uses 15 tokens, which cost as many millionths here. */
const models = { "script/below": { price: { input: 1, output: 1 } } }

/** Gives work to a subagent in the background, and waits for the result. */
async function work(below: readonly ScriptStep[], maxTokensPerTask: number | null = null, isKept = true) {
  const opened = await openSubagents({ isKept, main: [], below, models, background: { maxTokensPerTask } })
  const { runtime, session } = opened
  const input = { task: "Work.", profile: "worker" }
  const { id } = await runtime.tasks.start({ tool: "spawn_subagent", input, session: session.id })
  const { task } = await runtime.tasks.result(id, { waitMs: 60_000 })
  return { ...opened, task }
}

for (const isKept of [true, false]) {
  const where = isKept ? "kept" : "in memory"

  test(`what a subagent used is its task's, in tokens and money, when it fails, too (${where})`, async () => {
    const { task } = await work([READ, { error: { code: "model_refused", message: "No." } }], null, isKept)
    expect(task).toMatchObject({ status: "failed", usage: { tokens: 15, costMicros: 15 } })
  })

  test(`the answer with which a subagent passes its budget is kept: it is paid for (${where})`, async () => {
    const { task } = await work([READ, "Worked."], 20, isKept)
    expect(task).toMatchObject({
      status: "completed",
      usage: { tokens: 30, costMicros: 30 },
      patch: { payload: { answer: "Worked." } },
    })
  })
}

test("what a subagent used before a shutdown and after it is its task's, once", async () => {
  const dataDirectory = join(createFolder(), "data")
  const gate = createGate()
  const below = [READ, () => ({ gate: gate.pass(), text: "never said" })]
  const first = await openSubagents({ main: ["Hello."], below, models, dataDirectory })
  await first.session.send("Hello.")
  const input = { task: "Work.", profile: "worker" }
  const { id } = await first.runtime.tasks.start({ tool: "spawn_subagent", input, session: first.session.id })
  await gate.reached
  await first.runtime.close()
  const { runtime } = await openSubagents({ main: [], below: ["Worked."], models, dataDirectory })
  const { task } = await runtime.tasks.result(id, { waitMs: 60_000 })
  const row = (await runtime.ledgerTotals("task")).find(({ key }) => key === id)
  const { usage, costMicros } = row?.total ?? { usage: NO_TOKENS, costMicros: 0 }
  expect(row?.total.calls).toBe(3)
  expect(task).toMatchObject({
    status: "completed",
    usage: { tokens: usage.inputTokens + usage.outputTokens, costMicros },
  })
})
