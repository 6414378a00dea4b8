import { beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createManualClock } from "../base/manual-clock.ts"
import { MeanwhileError } from "../base/error.ts"
import { createTaskId, DEFAULT_WORKSPACE, type WorkerId } from "../task/id.ts"
import { isTerminal } from "../task/lifecycle.ts"
import { toPatch } from "../task/patch.ts"
import { NO_USAGE } from "../task/progress.ts"
import type { RunState, TaskRecord } from "../task/record.ts"
import type { Survivors } from "../task/stop.ts"
import { backgroundCapable } from "./background-adapter.ts"
import { isBackgroundCapable } from "./background-capable.ts"
import { definePlugin } from "./define-plugin.ts"
import type { TaskService, TaskView, ToolCall } from "./task-service.ts"
import { defineTool } from "./tool.ts"

const clock = createManualClock()
const running: RunState = { status: "running", worker: "worker" as WorkerId }

function createRecord(call: ToolCall): TaskRecord {
  const now = clock.now()
  return {
    id: createTaskId(),
    workspace: DEFAULT_WORKSPACE,
    session: null,
    parentTask: null,
    parentMessage: null,
    batch: null,
    group: null,
    kind: "tool",
    plugin: call.plugin ?? "",
    tool: call.tool,
    model: null,
    title: call.tool,
    input: null,
    inputHeldBy: null,
    metadata: call.metadata ?? {},
    lifetime: "runtime",
    priority: 0,
    notify: "wake",
    limits: { timeoutMs: call.timeoutMs ?? null, tokens: null, costMicros: null, outputBytes: null },
    idempotencyKey: null,
    askedBy: null,
    depth: 0,
    traceId: null,
    run: 1,
    fence: 1,
    queuedAt: now,
    startedAt: now,
    ranMs: 0,
    createdAt: now,
    lastSequence: 1,
    progress: null,
    usage: NO_USAGE,
    resumeCount: 0,
    retrievedAt: null,
    strippedAt: null,
    ...running,
  }
}

/** A task service over a Map. Tasks run until the test ends them, or until they are cancelled. */
function createFakeService({
  survivors = [],
  ignoresStop = false,
}: {
  survivors?: Survivors
  ignoresStop?: boolean
} = {}) {
  const tasks = new Map<string, TaskRecord>()
  const consumedAt = new Map<string, number>()
  const ended = new Map<string, PromiseWithResolvers<void>>()
  const calls: ToolCall[] = []

  function add(call: ToolCall): TaskRecord {
    const record = createRecord(call)
    calls.push(call)
    tasks.set(record.id, record)
    ended.set(record.id, Promise.withResolvers())
    return record
  }
  function view(id: string): TaskView {
    const task = tasks.get(id)
    if (!task) throw new MeanwhileError("not_found", `There is no task ${id}.`)
    const estimate = { medianMs: 30_000, p90Ms: 60_000, source: "guess" } as const
    return { task, placeInQueue: null, missing: null, worker: null, estimate, outputBytes: 0, lastLine: null }
  }
  function end(id: string, state: RunState): void {
    const { task } = view(id)
    tasks.set(id, { ...task, ranMs: 2_500, ...state })
    ended.get(id)?.resolve()
  }

  const service: Partial<TaskService> = {
    start: async (call) => add(call),
    adopt: async (call, work) => {
      const record = add(call)
      if (work instanceof Promise) {
        void work.then((value) =>
          end(record.id, { status: "completed", endedAt: clock.now(), patch: toPatch(String(value)) }),
        )
      }
      return record
    },
    get: async (id) => view(id),
    result: async (id, options = {}) => {
      if ((options.waitMs ?? 0) > 1_000_000) await ended.get(id)?.promise
      if (options.consume && isTerminal(view(id).task.status)) consumedAt.set(id, clock.now())
      return view(id)
    },
    cancel: async (id, { by = "person", reason = "" } = {}) => {
      const stop = { by, reason, requestedAt: clock.now() }
      const stopped = { status: "cancelled", endedAt: clock.now(), stop, survivors, patch: null } as const
      if (!ignoresStop) end(id, stopped)
      return view(id).task
    },
    list: async ({ plugin, statuses }, page = {}) => {
      const items = [...tasks.values()].filter((task) => task.plugin === plugin && statuses?.includes(task.status))
      const start = Number(page.cursor ?? 0)
      return { items: items.slice(start, start + 1), ...(start + 1 < items.length && { cursor: String(start + 1) }) }
    },
    clear: async ({ plugin, consumedBefore = 0 }) => {
      const gone = [...tasks.values()].filter(
        ({ id, plugin: owner }) =>
          owner === plugin && (consumedAt.get(id) ?? Number.POSITIVE_INFINITY) < consumedBefore,
      )
      for (const { id } of gone) tasks.delete(id)
      return gone.length
    },
    estimate: async () => ({ medianMs: 30_000, p90Ms: 60_000, source: "guess" }),
  }
  return { service: service as TaskService, calls, end, add }
}

const input = z.object({ size: z.number() })
const tool = (name: string, background?: Parameters<typeof defineTool<{ size: number }>>[0]["background"]) =>
  defineTool({ name, description: "Works.", input, run: async () => null, ...(background && { background }) })

const plugin = definePlugin({
  kind: "tool",
  name: "worker",
  tools: [
    tool("quick"),
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
  capable = backgroundCapable(plugin, fake.service, { clock })
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
    const names = ["quick", "slow", "slower", "detached", "depends", "unknown"]
    const answers = await Promise.all(names.map((name) => capable.supportsBackground(name)))
    expect(answers).toEqual([false, true, true, true, true, false])
  })

  it("gives the threshold in seconds: the tool's own, else the configured one, null for a tool that stays", async () => {
    const configured = backgroundCapable(plugin, fake.service, { backgroundThresholdSeconds: 7 })
    const names = ["quick", "slow", "slower", "detached", "depends", "unknown"]
    const answers = await Promise.all(names.map((name) => configured.autoBackgroundThreshold(name)))
    expect(answers).toEqual([null, 7, 2.5, 0, 7, null])
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
    await expect(refused).rejects.toThrow("These can: slow, slower, detached, depends.")
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
