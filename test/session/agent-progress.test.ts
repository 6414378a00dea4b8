import { join } from "node:path"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

const calls = (tool: string) => ({ calls: [{ tool }] })

/** What two processes share, the second of which goes on with what the first has left. */
function createShared() {
  const gated = createGatedTool({ obeys: true, onCrash: "retry" })
  const dataDirectory = join(createFolder(), "data")
  return { gated, shared: { dataDirectory, permissions: allowAll, main: ["Hello."], tools: [gated.tool] } }
}

for (const [where, isKept] of PLACES) {
  test(`the task of an agent says how many tools it called, the last three, what it used, and what it does (${where})`, async () => {
    const clock = createManualClock()
    const gated = createGatedTool()
    const read = { calls: [{ tool: "read" }] }
    const write = { calls: [{ tool: "write" }] }
    const opened = await openSubagents({
      isKept,
      clock,
      main: [],
      tools: [gated.tool],
      below: [read, read, write, { calls: [{ tool: "gated" }] }, "Done."],
    })
    const { runtime } = opened
    const { id } = await startAgent(opened)
    await gated.call(1)
    const at = clock.now()
    clock.advance(1_000)
    const progress = await eventually("it is stored", async () => {
      const { task } = await runtime.tasks.get(id)
      return task.progress?.activity?.toolCalls === 4 && task.progress
    })
    expect(progress).toMatchObject({
      phase: "using gated",
      line: expect.stringContaining("worker works in session"),
      activity: { toolCalls: 4, lastTools: ["read", "write", "gated"], tokens: 60, at },
    })
    ;(await gated.call(1)).finish()
    const task = await endOf(opened, { id })
    expect(task.progress?.activity).toMatchObject({ toolCalls: 4, tokens: 75 })
  })
}

test("an agent's calls are counted once, whichever process goes on with it and whichever call is begun again", async () => {
  const { gated, shared } = createShared()
  const first = await openSubagents({ ...shared, below: [calls("read"), calls("gated")] })
  await first.session.send("Hello.")
  const { id } = await startAgent(first)
  await gated.call(1)
  await first.runtime.close()
  const second = await openSubagents({ ...shared, below: [calls("write"), "Done."] })
  ;(await gated.call(2)).finish()
  const task = await endOf(second, { id })
  expect(task.status).toBe("completed")
  expect(task.progress?.activity).toMatchObject({ toolCalls: 3, lastTools: ["read", "gated", "write"] })
})

test("an agent that is resumed counts from the beginning, also when another process goes on with it", async () => {
  const { gated, shared } = createShared()
  const first = await openSubagents({ ...shared, below: [calls("read"), calls("read"), "Done.", calls("gated")] })
  await first.session.send("Hello.")
  const { id } = await startAgent(first)
  expect((await endOf(first, { id })).progress?.activity).toMatchObject({ toolCalls: 2 })
  await first.runtime.tasks.resume(id, "And on.")
  await gated.call(1)
  await first.runtime.close()
  const second = await openSubagents({ ...shared, below: ["Done again."] })
  ;(await gated.call(2)).finish()
  const task = await endOf(second, { id })
  expect(task).toMatchObject({ status: "completed", run: 2 })
  expect(task.progress?.activity).toMatchObject({ toolCalls: 1, lastTools: ["gated"] })
})
