import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo, type GatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const background = { maxConcurrentTasks: 2, leaseSeconds: 3 }
const LITTLE_MS = 50

/** Starts a task that begins at once. Nothing is queued then, so the next start shows whether a slot is free. */
async function startAtOnce({ tasks }: Runtime, gated: GatedTool, pass = (): void => {}): Promise<void> {
  await eventually("a task begins at once", async () => {
    const before = gated.calls.length
    const { id, status } = await tasks.start({ tool: "gated", input: {} })
    const call = await eventually("it runs", () => {
      pass()
      return gated.calls[before]
    })
    if (status === "running") return true
    call.finish()
    await eventually("it ends", async () => {
      pass()
      return (await tasks.get(id)).task.status === "completed"
    })
    return false
  })
}

test("adopted work holds a slot", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [echo, gated.tool], background })
  await startAtOnce(meanwhile, gated)
  const work = Promise.withResolvers<null>()
  await meanwhile.tasks.adopt({ tool: "echo", input: {} }, work.promise)
  const next = await meanwhile.tasks.start({ tool: "gated", input: {} })
  expect(next.status).toBe("queued")
  const before = gated.calls.length
  work.resolve(null)
  await gated.call(before + 1)
})

test("a command that is taken over from a lost worker holds a slot of the worker that took it over, until it ends", async () => {
  const gated = createGatedTool({ obeys: true })
  const options = { tools: [gated.tool], background }
  const { meanwhile, another, directory } = await createWorkplace({ ...options, clock: createManualClock() })
  const command = "echo begun; until [ -e go ]; do sleep 0.02; done"
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input: { command } })
  // No time passes for the first worker: code that looks by its clock would not look twice.
  await eventually("the command begins", async () => (await meanwhile.tasks.output(id)).text.includes("begun"))

  const clock = createManualClock()
  const second = await another({ clock })
  await eventually("it is taken over", async () => {
    clock.advance(LITTLE_MS)
    return (await second.tasks.get(id)).task.fence === 2
  })
  await startAtOnce(second, gated, () => clock.advance(LITTLE_MS))
  const next = await second.tasks.start({ tool: "gated", input: {} })
  writeFileSync(join(directory, "go"), "")
  await eventually("the command and then the next one had the slot", async () => {
    clock.advance(LITTLE_MS)
    const [first, after] = await Promise.all([second.tasks.get(id), second.tasks.get(next.id)])
    return first.task.status === "completed" && after.task.status === "running"
  })
  expect(next.status).toBe("queued")
})
