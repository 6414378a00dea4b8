import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createTaskId } from "../task/id.ts"
import { toPatch } from "../task/patch.ts"
import { backgroundCapable } from "./background-adapter.ts"
import { isBackgroundCapable } from "./background-capable.ts"
import { definePlugin } from "./define-plugin.ts"
import { defineTool } from "./tool.ts"
import { clock, createFakeService } from "../../test/support/plugin/task-service.ts"

const input = z.object({ size: z.number() })
const tool = (name: string, background?: Parameters<typeof defineTool<{ size: number }>>[0]["background"]) =>
  defineTool({ name, description: "Works.", input, run: async () => null, ...(background && { background }) })

const plugin = definePlugin({
  kind: "tool",
  name: "worker",
  tools: [
    tool("quick", { mode: "never" }),
    tool("unsaid"),
    tool("slow", { mode: "after" }),
    tool("slower", { mode: "after", ms: 2_500 }),
    tool("detached", { mode: "always" }),
    tool("depends", ({ size }) => (size > 9 ? { mode: "after", ms: 1_000 } : { mode: "never" })),
  ],
})

let fake: ReturnType<typeof createFakeService>
let capable: ReturnType<typeof backgroundCapable<typeof plugin>>
beforeEach(() => {
  fake = createFakeService()
  capable = backgroundCapable(plugin, fake.service)
})

describe("the guard", () => {
  it("recognises what has all ten methods, and nothing else", () => {
    expect(isBackgroundCapable(capable)).toBe(true)
    expect(isBackgroundCapable(plugin)).toBe(false)
    expect(isBackgroundCapable({ ...capable, cancel: undefined })).toBe(false)
    expect(isBackgroundCapable(null)).toBe(false)
  })

  it("leaves the plugin as it was, and the capable one is still a plugin", () => {
    expect("startBackground" in plugin).toBe(false)
    expect(definePlugin(capable).tools).toBe(plugin.tools)
  })
})

describe("what a tool can do", () => {
  it("supports the background for every tool that may leave the foreground", async () => {
    const names = ["quick", "unsaid", "slow", "slower", "detached", "depends", "unknown"]
    const answers = await Promise.all(names.map((name) => capable.supportsBackground(name)))
    expect(answers).toEqual([false, true, true, true, true, true, false])
  })

  it("gives the threshold in seconds: the tool's own, else the configured one, null for a tool that stays", async () => {
    const configured = backgroundCapable(plugin, fake.service, { thresholdSeconds: 7 })
    const names = ["quick", "unsaid", "slow", "slower", "detached", "depends", "unknown"]
    const answers = await Promise.all(names.map((name) => configured.autoBackgroundThreshold(name)))
    expect(answers).toEqual([null, 7, 7, 2.5, 0, 7, null])
  })

  it("gives the threshold of one call when the tool decides by its input", async () => {
    expect(await capable.autoBackgroundThreshold("depends", { size: 10 })).toBe(1)
    expect(await capable.autoBackgroundThreshold("depends", { size: 1 })).toBeNull()
  })

  it("estimates in seconds, and says null for a tool that is not its own", async () => {
    expect(await capable.estimateDuration("slow", { size: 1 })).toBe(30)
    expect(await capable.estimateDuration("unknown", {})).toBeNull()
  })
})

describe("a task in the background", () => {
  it("returns a handle at once and hands the time limit on", async () => {
    const handle = await capable.startBackground("slow", { size: 1 }, 60)
    expect(handle).toEqual({
      taskId: handle.taskId,
      pluginName: "worker",
      toolName: "slow",
      createdAt: clock.now(),
      estimatedDurationSeconds: 30,
      metadata: {},
    })
    expect(fake.calls).toEqual([{ plugin: "worker", tool: "slow", input: { size: 1 }, timeoutMs: 60_000 }])
    expect(await capable.getStatus(handle.taskId)).toBe("running")
  })

  it("refuses a tool that cannot run in the background, and names those that can", async () => {
    const refused = capable.startBackground("quick", { size: 1 })
    await expect(refused).rejects.toMatchObject({ code: "not_background_capable" })
    await expect(refused).rejects.toThrow("These can: unsaid, slow, slower, detached, depends.")
    expect(fake.calls).toEqual([])
  })

  it("answers with the current state at once, or with the result when it is asked to wait", async () => {
    const { taskId } = await capable.startBackground("slow", { size: 1 })
    expect(await capable.getResult(taskId)).toMatchObject({ status: "running", result: null, completedAt: null })
    const waiting = capable.getResult(taskId, true)
    fake.end(taskId, { status: "completed", endedAt: clock.now(), patch: toPatch({ rows: 3 }) })
    expect(await waiting).toEqual({
      taskId,
      status: "completed",
      result: { rows: 3 },
      error: null,
      startedAt: clock.now(),
      completedAt: clock.now(),
      durationSeconds: 2.5,
    })
  })

  it("hands out the error of a task that failed", async () => {
    const { taskId } = await capable.startBackground("slow", { size: 1 })
    const failure = { code: "tool_error", message: "no disk", details: {} }
    fake.end(taskId, { status: "failed", endedAt: clock.now(), failure, patch: null })
    expect(await capable.getResult(taskId)).toMatchObject({ status: "failed", error: "no disk", result: null })
  })

  it("calls a time limit timeout", async () => {
    const { taskId } = await capable.startBackground("slow", { size: 1 })
    const stop = { by: "deadline", reason: "60 s are over", requestedAt: clock.now() } as const
    fake.end(taskId, { status: "timed_out", endedAt: clock.now(), stop, survivors: [], patch: null })
    expect(await capable.getStatus(taskId)).toBe("timeout")
    expect((await capable.getResult(taskId)).error).toContain("60 s are over")
  })

  it("does not know unknown ids, nor tasks of other plugins", async () => {
    const { id } = fake.add({ tool: "other", plugin: "someone", input: {} })
    for (const taskId of [id, createTaskId()]) {
      await expect(capable.getStatus(taskId)).rejects.toMatchObject({ code: "not_found" })
      await expect(capable.getResult(taskId)).rejects.toMatchObject({ code: "not_found" })
      await expect(capable.cancel(taskId)).rejects.toMatchObject({ code: "not_found" })
    }
  })
})

describe("cancelling", () => {
  it("is true when the work is gone, and when it had ended before", async () => {
    const { taskId } = await capable.startBackground("slow", { size: 1 })
    expect(await capable.cancel(taskId)).toBe(true)
    expect(await capable.getStatus(taskId)).toBe("cancelled")
    expect(await capable.cancel(taskId)).toBe(true)
  })

  it.each([{ survivors: [{ pid: 7, command: "sleep" }] }, { survivors: "unknown" as const }, { ignoresStop: true }])(
    "is false when something may still run: %o",
    async (behaviour) => {
      const stubborn = backgroundCapable(plugin, createFakeService(behaviour).service)
      const { taskId } = await stubborn.startBackground("slow", { size: 1 })
      expect(await stubborn.cancel(taskId)).toBe(false)
    },
  )
})

describe("the tasks of a plugin", () => {
  it("lists the active ones of this plugin only, over all pages", async () => {
    fake.add({ tool: "other", plugin: "someone", input: {} })
    const handles = [
      await capable.startBackground("slow", { size: 1 }),
      await capable.startBackground("slower", { size: 1 }),
      await capable.startBackground("detached", { size: 1 }),
    ]
    fake.end(handles[0]?.taskId ?? "", { status: "completed", endedAt: clock.now(), patch: toPatch(null) })
    expect((await capable.listTasks()).map(({ toolName }) => toolName)).toEqual(["slower", "detached"])
  })

  it("cleans up what was used long enough ago, and never what nobody has seen", async () => {
    const used = await capable.startBackground("slow", { size: 1 })
    const unseen = await capable.startBackground("slow", { size: 1 })
    for (const { taskId } of [used, unseen]) {
      fake.end(taskId, { status: "completed", endedAt: clock.now(), patch: toPatch(null) })
    }
    await capable.getResult(used.taskId)
    expect(await capable.cleanupCompleted()).toBe(0)
    clock.advance(3_600_000)
    expect(await capable.cleanupCompleted()).toBe(1)
    await expect(capable.getStatus(used.taskId)).rejects.toMatchObject({ code: "not_found" })
    expect(await capable.getStatus(unseen.taskId)).toBe("completed")
    await expect(capable.cleanupCompleted(-1)).rejects.toMatchObject({ code: "invalid_input" })
  })

  it("registers work that already runs, without running it again", async () => {
    const work = Promise.withResolvers<string>()
    const handle = await capable.registerRunningTask(work.promise, "slow", { size: 1 })
    expect(await capable.getStatus(handle.taskId)).toBe("running")
    work.resolve("done")
    expect(await capable.getResult(handle.taskId, true)).toMatchObject({ status: "completed", result: "done" })
    await expect(capable.registerRunningTask(work.promise, "quick", {})).rejects.toMatchObject({
      code: "not_background_capable",
    })
  })
})
