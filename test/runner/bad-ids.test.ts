import { expect, test } from "vitest"
import type { JsonValue } from "../../src/base/json.ts"
import type { Runner } from "../../src/runner/runner.ts"
import type { WorkspaceId } from "../../src/task/id.ts"
import { contentsOf } from "../support/contents.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const HERE = "here" as WorkspaceId
const ELSEWHERE = "elsewhere" as WorkspaceId

/** Every command that takes an id. */
const COMMANDS: Record<string, (tasks: Runner, id: string, scope?: WorkspaceId) => Promise<unknown>> = {
  get: (tasks, id, scope) => tasks.get(id, scope),
  result: (tasks, id, scope) => tasks.result(id, { waitMs: 10 }, scope),
  cancel: (tasks, id, scope) => tasks.cancel(id, {}, scope),
  retry: (tasks, id, scope) => tasks.retry(id, scope),
  prioritize: (tasks, id, scope) => tasks.prioritize(id, 1, scope),
  output: (tasks, id, scope) => tasks.output(id, {}, scope),
  waitForOutput: (tasks, id, scope) => tasks.waitForOutput(id, { pattern: /x/, timeoutMs: 10 }, scope),
  acknowledge: (tasks, id, scope) => tasks.acknowledge([id], scope),
}

async function openWithOne() {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, directory } = await createWorkplace({ tools: [echo, gated.tool] })
  const { tasks } = meanwhile
  const running = await tasks.start({ tool: "gated", input: {}, workspace: HERE })
  const ended = await tasks.start({ tool: "echo", input: {}, workspace: HERE })
  await gated.call(1)
  await tasks.result(ended.id, { waitMs: 20_000 }, HERE)
  return { directory, tasks, store: meanwhile.engine.store, running: running.id, ended: ended.id }
}

for (const [name, command] of Object.entries(COMMANDS)) {
  test(`${name} refuses ids that nobody has, and a task of another workspace does not exist`, async () => {
    const { directory, tasks, running, ended } = await openWithOne()
    const before = await contentsOf(directory)
    const wrong = [
      "",
      "no-such-id",
      "%",
      "ffffffff",
      "00000000-0000-4000-8000-000000000000",
      `${running.slice(0, -1)}x`,
    ]
    for (const id of wrong) {
      await expect(command(tasks, id, HERE)).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringContaining("List the tasks to see their ids"),
      })
    }
    for (const id of [running, ended, running.slice(0, 8)]) {
      await expect(command(tasks, id, ELSEWHERE)).rejects.toMatchObject({ code: "not_found" })
      await expect(command(tasks, id)).rejects.toMatchObject({ code: "not_found" })
    }
    expect(await contentsOf(directory)).toEqual(before)
  })
}

test("an ambiguous prefix is refused with the candidates", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
  const { tasks } = meanwhile
  const ids = new Map<string, string>()
  let shared: string | undefined
  while (!shared) {
    const { id } = await tasks.start({ tool: "echo", input: {} })
    await tasks.result(id, { waitMs: 20_000 })
    if (ids.has(id.slice(0, 1))) shared = id.slice(0, 1)
    ids.set(id.slice(0, 1), id)
  }
  const before = await contentsOf(directory)
  await expect(tasks.get(shared)).rejects.toMatchObject({
    code: "ambiguous_id",
    message: expect.stringMatching(/could be any of [0-9a-f]{8}(, [0-9a-f]{8})+\. Give more of the id/),
    details: { candidates: expect.arrayContaining([ids.get(shared)]) },
  })
  expect(await contentsOf(directory)).toEqual(before)
  const [only] = [...ids.values()]
  expect((await tasks.get((only ?? "").slice(0, 13).toUpperCase())).task.id).toBe(only)
})

test("a completed or live task is not retried", async () => {
  const { directory, tasks, running, ended } = await openWithOne()
  const before = await contentsOf(directory)
  for (const id of [running, ended]) {
    await expect(tasks.retry(id, HERE)).rejects.toMatchObject({
      code: "wrong_state",
      message: expect.stringContaining("only failed, timed out, interrupted and cancelled tasks can be retried"),
    })
  }
  await expect(tasks.prioritize(ended, 5, HERE)).rejects.toMatchObject({ code: "wrong_state" })
  expect(await contentsOf(directory)).toEqual(before)
})

test("numbers that make no sense are refused", async () => {
  const { directory, tasks, running } = await openWithOne()
  const before = await contentsOf(directory)
  const refused: Record<string, () => Promise<unknown>> = {
    waitMs: () => tasks.result(running, { waitMs: -1 }, HERE),
    "waitMs that is none": () => tasks.result(running, { waitMs: Number.NaN }, HERE),
    priority: () => tasks.prioritize(running, 1.5, HERE),
    limit: () => tasks.list({}, { limit: 0 }),
    "limit that is none": () => tasks.list({}, { limit: Number.NaN }),
    "limit that is too much": () => tasks.list({}, { limit: 100_000 }),
    age: () => tasks.cleanupCompleted(-1),
    "age that is none": () => tasks.cleanupCompleted(Number.NaN),
    offset: () => tasks.output(running, { offset: -1 }, HERE),
    "offset that is none": () => tasks.output(running, { offset: Number.NaN }, HERE),
    tailBytes: () => tasks.output(running, { tailBytes: -1 }, HERE),
    limitBytes: () => tasks.output(running, { limitBytes: 0 }, HERE),
  }
  for (const [name, refuse] of Object.entries(refused)) {
    await expect(refuse(), name).rejects.toMatchObject({ name: "MeanwhileError", code: "invalid_input" })
  }
  await expect(tasks.output(running, { run: 2 }, HERE)).rejects.toMatchObject({ code: "not_found" })
  expect(await contentsOf(directory)).toEqual(before)
})

test("an answer to nothing, and an estimate of an unknown tool, are refused", async () => {
  const { directory, tasks } = await openWithOne()
  const before = await contentsOf(directory)
  const answer: JsonValue = true
  await expect(tasks.answer("none", answer, "me")).rejects.toMatchObject({ code: "not_found" })
  await expect(tasks.estimate({ tool: "nothing", input: {} })).rejects.toMatchObject({ code: "unknown_tool" })
  expect(await contentsOf(directory)).toEqual(before)
})
