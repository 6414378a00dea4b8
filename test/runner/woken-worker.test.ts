import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ToolContext } from "../../src/plugin/context.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createStandStill } from "../support/stand-still.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const LEASE_SECONDS = 60
const EFFECTS = ["0", "1", "2", "3", "4", "5", "6", "7"]

/** A worker on a clock of ours, with calls that have begun and wait for the test. */
async function openWorker({ isLost, calls = 1 }: { readonly isLost: boolean; readonly calls?: number }) {
  const clock = createManualClock()
  const gated = createGatedTool()
  const background = { leaseSeconds: LEASE_SECONDS, maxConcurrentTasks: calls, maxConcurrentPerPlugin: calls }
  const { meanwhile, directory } = await createWorkplace({ tools: [gated.tool], clock, background })
  await Promise.all(Array.from({ length: calls }, () => meanwhile.tasks.start({ tool: "gated", input: {} })))
  await gated.call(calls)
  onTestFinished(() => gated.calls.forEach(({ finish }) => finish()))
  const standStill = createStandStill(meanwhile, { clock, leaseSeconds: LEASE_SECONDS, isLost })
  return { meanwhile, directory, standStill, contexts: gated.calls.map(({ context }) => context) }
}

const WAYS = {
  "eight runs that each take a step": (contexts, effect) =>
    EFFECTS.map((name, index) => (contexts[index] as ToolContext).step("act", async () => effect(name))),
  "eight steps of one run": ([context], effect) => EFFECTS.map((name) => context.step(name, async () => effect(name))),
  "eight effects of one run outside a step": ([context], effect) =>
    EFFECTS.map((name) => context.act(() => effect(name))),
} satisfies Record<
  string,
  (contexts: readonly [ToolContext, ...ToolContext[]], effect: (name: string) => null) => Promise<null>[]
>

describe.each(Object.entries(WAYS))("of %s", (_way, begin) => {
  test("none begins after the one in which the worker stood still, if its lease was lost", async () => {
    const { standStill, contexts } = await openWorker({ isLost: true, calls: EFFECTS.length })
    const begun: string[] = []
    const ends = await Promise.allSettled(
      begin(contexts as [ToolContext, ...ToolContext[]], (name) => {
        if (begun.push(name) === 1) standStill.now()
        return null
      }),
    )
    expect(begun).toHaveLength(1)
    expect(standStill.asked).toBe(1)
    expect(ends.filter(({ status }) => status === "rejected").length).toBeGreaterThanOrEqual(EFFECTS.length - 1)
  })

  test("all begin if the lease is still the worker's, however often it stands still", async () => {
    const { standStill, contexts } = await openWorker({ isLost: false, calls: EFFECTS.length })
    const begun: string[] = []
    await Promise.all(
      begin(contexts as [ToolContext, ...ToolContext[]], (name) => {
        begun.push(name)
        standStill.now()
        return null
      }),
    )
    expect(begun.toSorted()).toEqual(EFFECTS)
    expect(standStill.asked).toBeGreaterThan(1)
  })
})

test("a command is not started after a standstill between the call and the spawn", async () => {
  const { standStill, contexts, directory } = await openWorker({ isLost: true })
  const [context] = contexts as [ToolContext]
  context.output.write("something to write first\n")
  const argv = ["/bin/sh", "-c", "echo > began"] as const
  const running = context.processes.run({ argv: [...argv], cwd: directory, env: {} })
  standStill.now()
  await expect(running).rejects.toMatchObject({ code: "stale_claim" })
  expect(existsSync(join(directory, "began"))).toBe(false)
})

test("a task is not started for a run that was lost in a standstill", async () => {
  const { standStill, contexts, meanwhile } = await openWorker({ isLost: true })
  const [context] = contexts as [ToolContext]
  standStill.now()
  await expect(context.tasks.start({ tool: "gated", input: {} })).rejects.toMatchObject({ code: "stale_claim" })
  expect((await meanwhile.tasks.list({})).items).toHaveLength(1)
})

test("a call of a turn that was lost in a standstill begins no effect in the foreground either", async () => {
  const begun: string[] = []
  const inner = Promise.withResolvers<ToolContext>()
  const calls = defineTool({
    name: "calls",
    description: "Calls another tool, and waits for it.",
    input: z.object({}),
    background: { mode: "always" },
    async run(_input, { tasks }) {
      await tasks.execute({ tool: "inside", input: {} }).answer
      return null
    },
  })
  const inside = defineTool({
    name: "inside",
    description: "Waits for the test.",
    input: z.object({}),
    background: { mode: "never" },
    run: (_input, context) => {
      inner.resolve(context)
      return new Promise((_resolve, reject) => context.signal.addEventListener("abort", () => reject(new Error("end"))))
    },
  })
  const clock = createManualClock()
  const background = { leaseSeconds: LEASE_SECONDS }
  const { meanwhile } = await createWorkplace({ tools: [calls, inside], clock, background })
  await meanwhile.tasks.start({ tool: "calls", input: {} })
  const context = await inner.promise
  const standStill = createStandStill(meanwhile, { clock, leaseSeconds: LEASE_SECONDS, isLost: true })
  standStill.now()
  await expect(context.step("act", async () => begun.push("step"))).rejects.toThrow(
    /goes on in another process|taken over/,
  )
  await expect(context.act(() => begun.push("act"))).rejects.toThrow(/goes on in another process|taken over/)
  expect(begun).toEqual([])
})

test("a claim whose answer came only after its lease was lost and another taken begins nothing", async () => {
  const clock = createManualClock()
  const gated = createGatedTool()
  const background = { leaseSeconds: LEASE_SECONDS }
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, background })
  const standStill = createStandStill(meanwhile, { clock, leaseSeconds: LEASE_SECONDS, isLost: true })
  let isHeld = true
  interceptCommits(meanwhile, async (operations, commit) => {
    const answers = await commit(operations)
    if (isHeld && operations.some(({ op }) => op === "task.create")) {
      isHeld = false
      standStill.now()
      clock.advance(LEASE_SECONDS * 1_000)
      await eventually("it has another lease", async () => standStill.asked > 0 && (await countLeases()) > 1)
    }
    return answers
  })
  const countLeases = async () => (await meanwhile.engine.store.leases("worker:")).length
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  expect(gated.calls).toEqual([])
  // As of any worker that is gone, the run is taken over: here by the same process under its new lease.
  await eventually("it is decided about", async () => {
    clock.advance(1_000)
    return (await meanwhile.tasks.get(id)).task.status !== "running" || gated.calls.length > 0
  })
})

test("a task that is started while its worker has no lease is written under the next one", async () => {
  const clock = createManualClock()
  const gated = createGatedTool()
  const background = { leaseSeconds: LEASE_SECONDS }
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, background })
  onTestFinished(() => gated.calls.forEach(({ finish }) => finish()))
  const standStill = createStandStill(meanwhile, { clock, leaseSeconds: LEASE_SECONDS, isLost: true })
  const written: string[] = []
  interceptCommits(meanwhile, async (operations, commit) => {
    const answers = await commit(operations)
    for (const { op } of operations) if (op === "lease.take" || op === "task.create") written.push(op)
    return answers
  })
  standStill.now()
  const task = await meanwhile.tasks.start({ tool: "gated", input: {} })
  expect(written).toEqual(["lease.take", "task.create"])
  const leases = await meanwhile.engine.store.leases("worker:")
  expect(leases.map(({ holder }) => holder)).toContain(task.status === "running" && task.worker)
  await gated.call(1)
})
