import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { handBack } from "../../src/plugin/tool.ts"
import { createSessionId, type WorkspaceId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"

const DAY_MS = 24 * 60 * 60 * 1_000
const CHORE_EVERY_MS = 60_000
const TEXT = "what was kept"

async function open(options: WorkplaceOptions = {}) {
  const gated = createGatedTool()
  const tool = {
    ...gated.tool,
    run: async (...[input, context]: Parameters<typeof gated.tool.run>) => {
      const artifact = await context.artifacts.put("note", "text/plain", Buffer.from(TEXT))
      await gated.tool.run(input, context)
      return handBack({ digest: [], facts: {}, artifacts: [artifact], nextSteps: [], payload: null })
    },
  }
  const { meanwhile } = await createWorkplace({ tools: [tool], ...options })
  const { tasks } = meanwhile
  async function hashOf(id: string) {
    const { task } = await tasks.result(id, { waitMs: 1e9 })
    return ("patch" in task && task.patch?.artifacts[0]?.hash) || ""
  }
  return { meanwhile, tasks, gated, hashOf }
}

test("an artifact is read by its hash in the workspace of its task, and nowhere else", async () => {
  const { tasks, gated, hashOf } = await open()
  const { id } = await tasks.start({ tool: "gated", input: {} })
  ;(await gated.call(1)).finish()
  const hash = await hashOf(id)
  for (const wanted of [hash, hash.slice("sha256:".length).toUpperCase()]) {
    const artifact = await tasks.artifact(wanted)
    expect(artifact).toMatchObject({ hash, mediaType: "text/plain", taskId: id })
    expect(Buffer.from(artifact.bytes).toString()).toBe(TEXT)
  }
  const refused = { code: "not_found" }
  await expect(tasks.artifact(hash, "other")).rejects.toMatchObject(refused)
  for (const wrong of [hash.slice(0, 20), "", "note", `sha256:${"0".repeat(64)}`, `${hash}\0`]) {
    await expect(tasks.artifact(wrong)).rejects.toMatchObject(refused)
  }
})

test("bytes that were put without a task are nobody's to read by their hash", async () => {
  const { meanwhile, tasks } = await open()
  const bytes = Buffer.from("loose")
  const put = {
    op: "artifact.put",
    workspace: "default" as WorkspaceId,
    taskId: null,
    mediaType: "text/plain",
    bytes,
  } as const
  const [hash] = await meanwhile.engine.store.commit([put])
  await expect(tasks.artifact(hash)).rejects.toMatchObject({ code: "not_found" })
})

test("an artifact that was put in the foreground belongs to the task that the call becomes", async () => {
  const { tasks, gated, hashOf } = await open()
  const execution = tasks.execute({ tool: "gated", input: {} })
  await gated.call(1)
  expect(await execution.promote()).toBe(true)
  ;(await gated.call(1)).finish()
  expect(await tasks.artifact(await hashOf(execution.taskId))).toMatchObject({ taskId: execution.taskId })
})

test("an artifact outlives the payload of its task, and goes with the task's record", async () => {
  const clock = createManualClock()
  const { tasks, gated, hashOf } = await open({ clock })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  ;(await gated.call(1)).finish()
  const hash = await hashOf(id)
  const comeRound = async () => {
    clock.advance(CHORE_EVERY_MS)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
  }
  await tasks.acknowledge([id])
  clock.jump(29 * DAY_MS)
  await eventually("the task is stripped", async () => {
    await comeRound()
    return (await tasks.get(id)).task.strippedAt !== null
  })
  expect(Buffer.from((await tasks.artifact(hash)).bytes).toString()).toBe(TEXT)
  clock.jump(2 * DAY_MS)
  await eventually("the task is gone", async () => {
    await comeRound()
    return (await tasks.list({})).items.length === 0
  })
  await expect(tasks.artifact(hash)).rejects.toMatchObject({ code: "not_found" })
})

test("an artifact that two tasks keep goes with the second; a session takes its own along", async () => {
  const { meanwhile, tasks, gated, hashOf } = await open()
  const session = createSessionId()
  await meanwhile.engine.store.commit([
    { op: "session.create", id: session, workspace: "default" as WorkspaceId, data: {} },
  ])
  const first = await tasks.start({ tool: "gated", input: { name: "a" } })
  const second = await tasks.start({ tool: "gated", input: { name: "b" }, session })
  for (const number of [1, 2]) (await gated.call(number)).finish()
  const hash = await hashOf(first.id)
  expect(await hashOf(second.id)).toBe(hash)
  await tasks.remove(first.id)
  expect(await tasks.artifact(hash)).toMatchObject({ taskId: second.id })
  await tasks.deleteSession(session)
  await expect(tasks.artifact(hash)).rejects.toMatchObject({ code: "not_found" })
})
