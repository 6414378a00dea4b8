import { describe, expect, test, vi } from "vitest"
import { z } from "zod"
import { toErrorMessage } from "../../src/base/error.ts"
import { type DeskOptions, LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createDeskWorkers } from "../../src/desk/workers.ts"
import type { TaskBranch } from "../../src/desk/task-tree.ts"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool, handBack } from "../../src/plugin/tool.ts"
import type { WorkerView } from "../../src/plugin/worker-view.ts"
import { createSessionId, createWorkerId, type TaskId } from "../../src/task/id.ts"
import { NAME } from "../support/asking.ts"
import { openDesks, TEAM } from "../support/desk/open-desks.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents, requestsOf } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const signal = new AbortController().signal

/** The titles of a tree, and the names of its groups. */
function outline(branches: readonly TaskBranch[]): unknown {
  return branches.map((branch) =>
    branch.type === "group"
      ? { [`group ${branch.group.name}`]: outline(branch.members) }
      : branch.below.length === 0
        ? branch.task.title
        : { [branch.task.title]: outline(branch.below) },
  )
}

/**
 * A parent with two children in one group and one child in none, one of which has a child itself; and a task beside them.
 */
async function openFamily() {
  const opened = await openDesks()
  const { desk, meanwhile } = opened
  const session = createSessionId()
  const { id: group } = await meanwhile.tasks.groups.open({ name: "checks", workspace: TEAM, session })
  const start = async (title: string, more: object = {}): Promise<TaskId> =>
    (await desk.tasks.start({ tool: "gated", input: { name: title }, title, session, ...more })).id
  const alone = await start("alone")
  const parent = await start("parent")
  const one = await start("one", { parentTask: parent, group })
  const two = await start("two", { parentTask: parent, group })
  const three = await start("three", { parentTask: parent })
  const below = await start("below", { parentTask: one })
  return { ...opened, session, group, alone, parent, one, two, three, below }
}

describe("the tasks of a desk", () => {
  test("are a tree of parents, children and groups", async () => {
    const { desk, parent, one } = await openFamily()
    const below = { parent: ["three", { "group checks": ["two", { one: ["below"] }] }] }
    expect(outline(await desk.tasks.tree({ kinds: "work" }, 100))).toEqual([below, "alone"])
    expect(outline(await desk.tasks.below(parent))).toEqual(below.parent)
    expect(outline(await desk.tasks.below(one.slice(0, 13)))).toEqual(["below"])
  })

  test("stand in a tree below the tasks that started them, also when those are not selected", async () => {
    const { desk, session } = await openFamily()
    const [newest] = await desk.tasks.tree({ session }, 1)
    expect(outline(newest ? [newest] : [])).toEqual([{ parent: [{ "group checks": [{ one: ["below"] }] }] }])
    expect(JSON.stringify(newest)).not.toContain('"input"')
  })

  test("stand where the task stood that started them, once that has completed", async () => {
    const { desk, gated, parent } = await openFamily()
    const call = await eventually("it runs", () => gated.calls.find(({ input }) => input.name === "parent"))
    call.finish()
    await desk.tasks.wait(parent, { waitMs: 30_000, signal })
    const live = await desk.tasks.tree({ statuses: "live" }, 100)
    expect(outline(live)).toEqual(["three", { "group checks": ["two", { one: ["below"] }] }, "alone"])
  })

  test("are listed with what a screen shows beside them, and are counted", async () => {
    const { desk, parent, one, group } = await openFamily()
    const { items } = await desk.tasks.rows({ group }, { limit: 10 })
    expect(items.map(({ task, groupName }) => [task.title, groupName])).toEqual([
      ["two", "checks"],
      ["one", "checks"],
    ])
    const running = await eventually("one runs", async () => {
      const rows = await desk.tasks.rows({ parentTask: parent }, { limit: 10 })
      return rows.items.find(({ task }) => task.id === one && task.status === "running")
    })
    expect(running).toMatchObject({ placeInQueue: null, firstStartedAt: null, worker: { where: "process" } })
    const { byStatus } = await desk.tasks.counts({ kinds: "work", statuses: "live" })
    expect(byStatus.running + byStatus.queued).toBe(6)
    expect((await desk.tasks.counts({ statuses: "ended" })).byStatus.completed).toBe(0)
  })

  test("are stoppable until they are asked to stop, and live until they have ended", async () => {
    const stubborn = createGatedTool({ name: "stubborn" })
    const { desk } = await openDesks({ tools: [stubborn.tool] })
    const { id } = await desk.tasks.start({ tool: "stubborn", input: {} })
    const call = await stubborn.call(1)
    const count = async (statuses: "live" | "stoppable"): Promise<number> =>
      (await Array.fromAsync(desk.tasks.each({ statuses }))).length
    expect([await count("stoppable"), await count("live")]).toEqual([1, 1])
    await desk.tasks.cancel(id)
    expect([await count("stoppable"), await count("live")]).toEqual([0, 1])
    call.finish()
    await desk.tasks.wait(id, { waitMs: 30_000, signal })
    expect(await count("live")).toBe(0)
  })

  test("are read page by page, or all at once", async () => {
    const { desk } = await openFamily()
    const first = await desk.tasks.list({}, { limit: 4 })
    const second = await desk.tasks.list({}, { limit: 4, ...(first.cursor !== undefined && { cursor: first.cursor }) })
    expect(second.cursor).toBeUndefined()
    const each = await Array.fromAsync(desk.tasks.each({}))
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(each.map(({ id }) => id))
    expect(each).toHaveLength(6)
  })

  test("have output, events and an end that can be waited for", async () => {
    const { desk } = await openDesks()
    const { id } = await desk.tasks.start({ tool: "run_command", input: { command: "echo bread; echo cake" } })
    const { task } = await desk.tasks.wait(id, { waitMs: 30_000, signal })
    expect(task.status).toBe("completed")
    const chunks = await Array.fromAsync(desk.tasks.followOutput(id, { offset: 0, until: "ended", signal }))
    expect(chunks.map(({ text }) => text).join("")).toBe("bread\ncake\n")
    for (const request of [[], [{}]] as const)
      expect(await Array.fromAsync(desk.tasks.followOutput(id, ...request))).toEqual(chunks)
    expect((await desk.tasks.output(id, { offset: 6 })).text).toBe("cake\n")
    const events = await desk.tasks.events(id, 0, 100)
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
    expect(events.at(-1)?.body.type).toBe("task.completed")
    expect((await desk.tasks.events(id, events.length - 1, 100)).map(({ body }) => body.type)).toEqual([
      "task.completed",
    ])
    expect(await desk.tasks.artifacts(id)).toEqual([])
    expect(await desk.tasks.details(id)).toMatchObject({ group: null, questions: [], view: { task: { id } } })
  })

  test("are followed by output until they end, or until nobody listens", async () => {
    const { desk } = await openDesks()
    const { id } = await desk.tasks.start({ tool: "run_command", input: { command: "echo begun; exec sleep 1000" } })
    const stop = new AbortController()
    let text = ""
    for await (const chunk of desk.tasks.followOutput(id, { offset: 0, until: "ended", signal: stop.signal })) {
      text += chunk.text
      if (text !== "") stop.abort()
    }
    expect(text).toBe("begun\n")
    const now = await Array.fromAsync(desk.tasks.followOutput(id, { offset: 0, until: "now", signal }))
    expect(now.map((chunk) => chunk.text).join("")).toBe("begun\n")
  })

  test("show their output up to now while the end of it is held back as a possible secret", async () => {
    const { desk } = await openDesks()
    const command = "echo begun; printf 'Building task-12'; exec sleep 1000"
    const { id } = await desk.tasks.start({ tool: "run_command", input: { command } })
    await eventually("all is printed", async () => (await desk.tasks.output(id, { offset: 0 })).totalBytes === 22)
    expect((await desk.tasks.output(id, { offset: 0 })).nextOffset).toBeLessThan(22)
    const now = await Array.fromAsync(desk.tasks.followOutput(id, { offset: 0, until: "now", signal }))
    expect(now.map((chunk) => chunk.text).join("")).toBe("begun\nBuilding ta")
  })

  test("are cancelled, retried and cleared", async () => {
    const { desk, gated } = await openDesks()
    const { id } = await desk.tasks.start({ tool: "gated", input: {} })
    await gated.call(1)
    await desk.tasks.cancel(id, { by: "person", reason: "enough" })
    const { task } = await desk.tasks.wait(id, { waitMs: 30_000, signal })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "person", reason: "enough" } })
    expect(await desk.tasks.retry(id.slice(0, 13))).toMatchObject({ id, run: 2 })
    await gated.call(2)
    await desk.tasks.cancel(id)
    expect((await desk.tasks.wait(id, { waitMs: 30_000, signal })).task).toMatchObject({ stop: { by: "person" } })
    await desk.tasks.retry(id)
    const call = await gated.call(3)
    call.finish("done")
    await desk.tasks.wait(id, { waitMs: 30_000, signal })
    expect(await desk.tasks.clear(null)).toMatchObject({ removed: 1, kept: 0 })
    await expect(desk.tasks.find(id)).rejects.toMatchObject({ code: "not_found" })
  })

  test("have artifacts, which another workspace cannot read", async () => {
    const bytes = new TextEncoder().encode("x marks the spot")
    const survey = defineTool({
      name: "survey",
      description: "Draws a map.",
      input: z.object({}),
      background: { mode: "always" },
      run: async (_, { artifacts }) =>
        handBack({
          digest: [],
          facts: {},
          artifacts: [await artifacts.put("map", "text/plain", bytes)],
          nextSteps: [],
          payload: null,
        }),
    })
    const { desk, foreign } = await openDesks({ tools: [survey] })
    const { id } = await desk.tasks.start({ tool: "survey", input: {} })
    expect((await desk.tasks.wait(id, { waitMs: 30_000, signal })).task).toMatchObject({ status: "completed" })
    const [map, ...more] = await desk.tasks.artifacts(id.slice(0, 13))
    if (!map) throw new Error("There is no artifact.")
    expect([map.name, map.mediaType, more]).toEqual(["map", "text/plain", []])
    expect(Buffer.from((await desk.tasks.artifact(map.hash))?.bytes ?? []).toString()).toBe("x marks the spot")
    expect(await foreign.tasks.artifact(map.hash)).toBeUndefined()
  })

  test("are steered while an agent works, and resumed when it has completed", async () => {
    const gate = createGate()
    const reading = () => ({ gate: gate.pass(), calls: [{ tool: "read" }] })
    const opened = await openSubagents({ main: [], below: [reading, "Seven.", "Eight."] })
    const desk = opened.runtime.desk(LOCAL_PERSON)
    const { id } = await startAgent(opened)
    await gate.reached
    await desk.tasks.steer(id.slice(0, 13), "Count in words.")
    gate.open()
    expect((await desk.tasks.wait(id, { waitMs: 30_000, signal })).task).toMatchObject({ status: "completed", run: 1 })
    const heard = requestsOf(opened.provider, "below")[1]
      ?.messages.map((message) => textOf(message))
      .join("\n")
    expect(heard).toContain("Count in words.")
    expect(await desk.tasks.resume(id.slice(0, 13), "And one more?")).toMatchObject({ id, run: 2, resumeCount: 1 })
    const { task } = await desk.tasks.wait(id, { waitMs: 30_000, signal })
    expect(task).toMatchObject({ status: "completed", patch: { payload: { answer: "Eight." } } })
  })

  test("settle when a person has to answer, also one who is asked later, and then when they end", async () => {
    const asked = Promise.withResolvers<void>()
    const working = Promise.withResolvers<void>()
    const polite = defineTool({
      name: "polite",
      description: "Works, and asks then.",
      input: z.object({}),
      background: { mode: "always" },
      async run(_, { person }) {
        working.resolve()
        await asked.promise
        return (await person.ask(NAME)).isAnswered
      },
    })
    const { desk } = await openDesks({ tools: [polite] })
    const { id } = await desk.tasks.start({ tool: "polite", input: {} })
    await working.promise
    expect((await desk.tasks.settle(id, { waitMs: 0, signal })).view.task.status).toBe("running")
    const settled = desk.tasks.settle(id.slice(0, 13), { waitMs: 30_000, signal })
    asked.resolve()
    const item = await eventually("it asks", async () => (await desk.inbox.list())[0])
    const { question } = await desk.tasks.settle(item.task.id, { waitMs: 30_000, signal })
    expect(question?.id).toBe(item.id)
    await desk.inbox.answer(item.id, "Ada")
    expect(await settled).toMatchObject({ view: { task: { id, status: "completed" } }, question: null })
  })

  test("settle no longer than the runtime is open", async () => {
    const gated = createGatedTool({ obeys: true })
    const { meanwhile, another } = await createWorkplace({ tools: [gated.tool] })
    const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
    await gated.call(1)
    const looking = await another({ takesWork: false })
    const reads = vi.spyOn(looking.engine.store, "leases")
    const settled = looking.desk(LOCAL_PERSON).tasks.settle(id, { waitMs: 3_600_000, signal })
    const outcome = settled.then(({ view }) => view.task.status, toErrorMessage)
    // It reads the task to find it, and then at its first look.
    await eventually("it has looked", () => reads.mock.settledResults[1]?.type === "fulfilled")
    await looking.close()
    expect(await outcome).toBe("running")
  })

  test("run in the foreground until they are promoted", async () => {
    const { desk, gated } = await openDesks()
    const execution = desk.tasks.execute({ tool: "gated", input: {} })
    const { finish } = await gated.call(1)
    expect(await execution.promote()).toBe(true)
    const answer = await execution.answer
    if (answer.outcome !== "promoted") throw new Error(answer.outcome)
    expect(answer.task.workspace).toBe(TEAM)
    finish()
    expect((await desk.tasks.wait(answer.task.id, { waitMs: 30_000, signal })).task.status).toBe("completed")
  })
})

describe("groups and workers of a desk", () => {
  test("a group is found by its name or its id, sealed, and cancelled with its members", async () => {
    const { desk, group, one, two } = await openFamily()
    expect(await desk.groups.find("CHECKS")).toMatchObject({ id: group, memberCount: 2, state: "open" })
    expect(await desk.groups.find(group.slice(0, 13))).toMatchObject({ id: group })
    expect(await desk.groups.find("no such group")).toBeUndefined()
    expect(await desk.groups.seal(group)).toMatchObject({ state: "sealed" })
    await desk.groups.cancel(group)
    for (const id of [one, two])
      expect((await desk.tasks.wait(id, { waitMs: 30_000, signal })).task.status).toBe("cancelled")
    expect((await desk.groups.list({})).map(({ state }) => state)).toEqual(["cancelled"])
  })

  test("a process that only looks is no worker", async () => {
    const { desk, elsewhere } = await openDesks()
    const there = await elsewhere()
    expect((await there.workers.list()).map(({ id }) => id)).toEqual((await desk.workers.list()).map(({ id }) => id))
    expect(await desk.workers.list()).toHaveLength(1)
  })

  test("work that a process leaves is taken by a worker elsewhere that has its plugin and tool", async () => {
    const announcement = {
      version: "1",
      since: 0,
      takes: "all",
      kinds: ["tool"],
      plugins: { test: ["echo"] },
      concurrency: 1,
      leaves: [],
      isLeaving: false,
    } as const
    const place = {
      host: "build-1",
      pid: 7,
      isSilent: false,
      endsWhenIdle: false,
      running: 0,
      isStarting: false,
      announcement,
    }
    const there: WorkerView = { ...place, id: createWorkerId(), where: "machine" }
    const here: WorkerView = { ...place, id: createWorkerId(), where: "process" }
    const looking: WorkerView = { ...place, id: createWorkerId(), where: "machine", announcement: null }
    const workers = createDeskWorkers({ workers: async () => [there, here, looking] })
    expect(await workers.successors({ kind: "tool" })).toEqual([there])
    expect(await workers.successors({ kind: "tool", plugin: "test", tool: "echo" })).toEqual([there])
    expect(await workers.successors({ kind: "tool", plugin: "test", tool: "unknown" })).toEqual([])
    expect(await workers.successors({ kind: "agent" })).toEqual([])
  })
})

describe("a desk", () => {
  test("is refused without a workspace or an actor", async () => {
    const { meanwhile } = await openDesks()
    for (const owner of [
      { workspace: TEAM },
      { actor: "ada" },
      { workspace: "", actor: "ada" },
      { workspace: TEAM, actor: " " },
      undefined,
    ])
      expect(() => meanwhile.desk(owner as DeskOptions)).toThrow(/A desk needs `(workspace|actor)`/)
  })

  test("neither shows nor touches the tasks of another workspace, and answers as if there were none", async () => {
    const { desk, foreign, parent, group, session } = await openFamily()
    expect((await foreign.tasks.list({}, { limit: 10 })).items).toEqual([])
    expect(await foreign.tasks.tree({}, 10)).toEqual([])
    expect(await foreign.tasks.tree({ parentTask: parent }, 10)).toEqual([])
    expect(await Array.fromAsync(foreign.tasks.each({ session }))).toEqual([])
    expect((await foreign.tasks.counts({})).byStatus).toMatchObject({ running: 0, queued: 0 })
    expect(await foreign.groups.list({})).toEqual([])
    expect(await foreign.groups.find("checks")).toBeUndefined()
    expect(await foreign.blocked.list()).toEqual([])
    const touches: ((id: string) => Promise<unknown>)[] = [
      (id) => foreign.tasks.find(id),
      (id) => foreign.tasks.details(id),
      (id) => foreign.tasks.below(id),
      (id) => foreign.tasks.events(id, 0, 10),
      (id) => foreign.tasks.output(id, {}),
      (id) => foreign.tasks.artifacts(id),
      (id) => foreign.tasks.wait(id, { waitMs: 0, signal }),
      (id) => foreign.tasks.cancel(id, { by: "person" }),
      (id) => foreign.tasks.retry(id),
      (id) => foreign.tasks.resume(id, "Go on."),
      (id) => foreign.tasks.steer(id, "Go on."),
      () => foreign.groups.seal(group),
      () => foreign.groups.cancel(group, { by: "person" }),
    ]
    for (const id of [
      parent,
      parent.slice(0, 8),
      "00000000-0000-0000-0000-000000000000",
      "'; DROP TABLE tasks; --",
      "",
    ])
      for (const touch of touches) await expect(touch(id)).rejects.toMatchObject({ code: "not_found" })
    const call = { tool: "gated", input: {}, parentTask: parent }
    await expect(foreign.tasks.start(call)).rejects.toMatchObject({ code: "not_found" })
    expect(await foreign.tasks.clear({ sessions: [session], tasks: [parent] })).toMatchObject({ removed: 0, kept: 0 })
    expect((await desk.tasks.find(parent)).task.status).toMatch(/running|queued/)
  })

  test("does not let a call name another workspace", async () => {
    const { desk } = await openDesks()
    const call = { tool: "gated", input: {}, workspace: "others" }
    expect((await desk.tasks.start(call)).workspace).toBe(TEAM)
    const filter = { session: null, workspace: "others" }
    expect((await desk.tasks.list(filter, { limit: 10 })).items).toHaveLength(1)
  })
})

test("a filter with an empty list of kinds or statuses selects no task", async () => {
  const { desk, gated } = await openDesks()
  await desk.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  expect((await desk.tasks.counts({})).byStatus.running).toBe(1)
  for (const none of [{ kinds: [] }, { statuses: [] }, { kinds: [], statuses: [] }]) {
    const { byStatus, queueAgeMs } = await desk.tasks.counts(none)
    expect([Object.values(byStatus).every((count) => count === 0), queueAgeMs]).toEqual([true, null])
    expect((await desk.tasks.list(none, { limit: 5 })).items).toEqual([])
  }
})

test("the work of a prompt holds no task of another workspace, whatever ids it is given", async () => {
  const { desk, foreign } = await openDesks()
  const { id } = await desk.tasks.start({ tool: "echo", input: { value: "bread" } })
  const prompt = { session: createSessionId(), saidAt: 0, started: new Set([id]) }
  expect((await desk.promptWork.tasks(prompt)).map((task) => task.id)).toEqual([id])
  expect(await foreign.promptWork.tasks(prompt)).toEqual([])
})

test.each([
  ["kinds", "everything"],
  ["kinds", ["tool", "job"]],
  ["kinds", "__proto__"],
  ["statuses", "done"],
  ["statuses", ["running", "done"]],
  ["statuses", "constructor"],
])("a filter with the unknown %s %j is refused, instead of selecting everything", async (field, words) => {
  const { desk } = await openDesks()
  const filter = { [field]: words } as Parameters<typeof desk.tasks.list>[0]
  await expect(async () => desk.tasks.list(filter, { limit: 10 })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(`\`${field}\` of a filter is `),
  })
})
