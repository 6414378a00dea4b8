import { expect, test } from "vitest"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { BackgroundConfigInput } from "../../../src/runner/limits/background-config.ts"
import type { SessionId } from "../../../src/task/id.ts"
import { eventually } from "../../support/eventually.ts"
import { createGatedTool } from "../../support/tools.ts"
import { createWorkplace } from "../../support/workplace.ts"

const GENEROUS = { maxConcurrentTasks: 50, maxConcurrentPerPlugin: 50, maxConcurrentPerSession: 50 }

/** Starts the calls one after the other. Lists the names of those that run at once, when at least `count` do. */
async function runningOf(
  count: number,
  background: BackgroundConfigInput,
  calls: readonly (Partial<ToolCall> & { name: string })[],
) {
  const gated = createGatedTool({ obeys: true })
  const other = createGatedTool({ obeys: true, name: "other" })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { ...GENEROUS, ...background } })
  await meanwhile.plugins.register(definePlugin({ kind: "tool", name: "other", tools: [other.tool] }))
  const started = []
  for (const { name, ...call } of calls) {
    started.push(await meanwhile.tasks.start({ tool: "gated", input: { name }, ...call }))
  }
  const first = await gated.call(1)
  await eventually("all that may run runs", () => gated.calls.length + other.calls.length >= count)
  await meanwhile.tasks.result(started[0]?.id ?? "", { waitMs: 20 })
  const running = [...gated.calls, ...other.calls].map(({ input }) => input.name)
  /** Ends the first call, and names the one that runs next. */
  async function afterFirstEnd(): Promise<string> {
    const before = gated.calls.length
    first.finish()
    return (await gated.call(before + 1)).input.name
  }
  return { running, afterFirstEnd }
}

test("maxConcurrentTasks: more tasks than it allows are queued until one ends", async () => {
  const { running, afterFirstEnd } = await runningOf(2, { maxConcurrentTasks: 2 }, [
    { name: "a" },
    { name: "b" },
    { name: "c" },
    { name: "d" },
  ])
  expect(running).toEqual(["a", "b"])
  expect(await afterFirstEnd()).toBe("c")
})

test("maxConcurrentPerPlugin: a full plugin queues its own tasks and lets those of others run", async () => {
  const { running, afterFirstEnd } = await runningOf(2, { maxConcurrentPerPlugin: 1 }, [
    { name: "a" },
    { name: "b" },
    { name: "of another", tool: "other" },
  ])
  expect(running).toEqual(["a", "of another"])
  expect(await afterFirstEnd()).toBe("b")
})

test("ten at once means ten: one plugin may have them all, unless a limit is set for it", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `task ${index}`)
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 10 } })
  for (const name of names) await meanwhile.tasks.start({ tool: "gated", input: { name } })
  await gated.call(10)
  expect(gated.calls.map(({ input }) => input.name)).toEqual(names.slice(0, 10))
  const { byStatus } = await meanwhile.tasks.counts({})
  expect(byStatus).toMatchObject({ running: 10, queued: 2 })
})

test("maxConcurrentPerSession: a full session queues its own tasks and lets those of others run", async () => {
  const session = "one" as SessionId
  const { running, afterFirstEnd } = await runningOf(3, { maxConcurrentPerSession: 1 }, [
    { name: "a", session },
    { name: "b", session },
    { name: "of another", session: "two" },
    { name: "of none" },
  ])
  expect(running).toEqual(["a", "of another", "of none"])
  expect(await afterFirstEnd()).toBe("b")
})

test("maxConcurrentPerWorkspace: a full workspace queues its own tasks and lets those of others run", async () => {
  const { running, afterFirstEnd } = await runningOf(2, { maxConcurrentPerWorkspace: 1 }, [
    { name: "a" },
    { name: "b" },
    { name: "of another", workspace: "two" },
  ])
  expect(running).toEqual(["a", "of another"])
  expect(await afterFirstEnd()).toBe("b")
})

test("maxConcurrentPerModel: a full model queues its own tasks and lets those of others run", async () => {
  const { running, afterFirstEnd } = await runningOf(3, { maxConcurrentPerModel: { large: 1 } }, [
    { name: "a", model: "large" },
    { name: "b", model: "large" },
    { name: "of another", model: "small" },
    { name: "of another too", model: "small" },
  ])
  expect(running).toEqual(["a", "of another", "of another too"])
  expect(await afterFirstEnd()).toBe("b")
})
