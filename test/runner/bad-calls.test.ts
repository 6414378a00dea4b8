import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import { z } from "zod"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../src/task/id.ts"
import { contentsOf } from "../support/contents.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const plain = defineTool({
  name: "plain",
  description: "Cannot move to the background.",
  background: { mode: "never" },
  input: z.object({}),
  run: async () => null,
})

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

const NO_TASK = "00000000-0000-4000-8000-000000000000" as TaskId
const LONG = "x".repeat(513)
const bad = (fields: Record<string, unknown>) => ({ tool: "echo", input: {}, ...fields }) as unknown as ToolCall

/** The call, the code, and what the message must say. */
const CALLS: Record<string, [ToolCall, string, RegExp]> = {
  "an unknown tool": [{ tool: "ecko", input: {} }, "unknown_tool", /ecko.*did you mean "echo"/is],
  "a tool of another plugin": [{ tool: "echo", plugin: "shell", input: {} }, "unknown_tool", /"test"/],
  "wrong arguments": [{ tool: "run_command", input: { command: 7 } }, "invalid_input", /run_command.*command/s],
  "no arguments at all": [bad({ input: undefined }), "invalid_input", /arguments of echo/],
  "a directory that does not exist": [
    { tool: "run_command", input: { command: "true", cwd: "nowhere" } },
    "invalid_input",
    /there is no directory .*nowhere/,
  ],
  "a negative time limit": [bad({ timeoutMs: -1 }), "invalid_input", /`timeoutMs` must be a number above 0, not -1/],
  "a time limit that is no number": [bad({ timeoutMs: Number.NaN }), "invalid_input", /`timeoutMs`.*NaN/],
  "an endless time limit": [bad({ timeoutMs: Number.POSITIVE_INFINITY }), "invalid_input", /`timeoutMs`/],
  "a token limit of zero": [bad({ tokenLimit: 0 }), "invalid_input", /`tokenLimit`/],
  "a negative cost limit": [bad({ costLimitMicros: -5 }), "invalid_input", /`costLimitMicros`/],
  "a negative output limit": [bad({ outputLimitBytes: -5 }), "invalid_input", /`outputLimitBytes`/],
  "a negative delay": [bad({ delayMs: -1 }), "invalid_input", /`delayMs` must be 0 or more/],
  "a delay that is no number": [bad({ delayMs: Number.NaN }), "invalid_input", /`delayMs`/],
  "a delay that no store could read back": [
    bad({ delayMs: 2 ** 53 }),
    "invalid_input",
    /`delayMs`.*at most 315360000000/,
  ],
  "an endless delay": [bad({ delayMs: Number.POSITIVE_INFINITY }), "invalid_input", /`delayMs`.*ten years/],
  "a priority above 32 bits": [
    bad({ priority: 2 ** 31 }),
    "invalid_input",
    /`priority`.*from -2147483648 to 2147483647/,
  ],
  "a priority below 32 bits": [bad({ priority: -(2 ** 31) - 1 }), "invalid_input", /`priority`/],
  "a workspace of 513 characters": [bad({ workspace: LONG }), "invalid_input", /`workspace` must be at most 512/],
  "a session of 513 characters": [bad({ session: LONG }), "invalid_input", /`session` must be at most 512/],
  "a group of 513 characters": [bad({ group: LONG }), "invalid_input", /`group` must be at most 512/],
  "half a priority": [bad({ priority: 0.5 }), "invalid_input", /`priority` must be a whole number/],
  "an unknown lifetime": [bad({ lifetime: "always" }), "invalid_input", /turn, session, runtime, forever, not always/],
  "an unknown way to notify": [bad({ notify: "loudly" }), "invalid_input", /wake, next_turn, silent/],
  "a session's lifetime without a session": [bad({ lifetime: "session" }), "invalid_input", /`session` must be given/],
  "a turn's lifetime without a turn": [bad({ lifetime: "turn" }), "invalid_input", /`parentTask` must name the turn/],
  "metadata over 16 KiB": [bad({ metadata: { text: "x".repeat(16_384) } }), "invalid_input", /16384.*artifact/s],
  "metadata that is a list": [bad({ metadata: [1] }), "invalid_input", /must be an object/],
  "metadata that is no JSON": [bad({ metadata: cyclic }), "invalid_input", /`metadata` cannot be written as JSON/],
  "a key of a thousand characters": [bad({ idempotencyKey: "k".repeat(1_000) }), "invalid_input", /`idempotencyKey`/],
  "the key of a gate": [bad({ idempotencyKey: `gate/${NO_TASK}` }), "invalid_input", /gate\/.*Choose another/],
  "the key of a question": [bad({ idempotencyKey: "question/1" }), "invalid_input", /question\/.*Choose another/],
  "a parent that does not exist": [bad({ parentTask: NO_TASK }), "not_found", /no parent task/],
}

for (const [name, [call, code, message]] of Object.entries(CALLS)) {
  test(`${name} is refused once and clearly, and nothing starts or is written`, async () => {
    const { meanwhile, directory } = await createWorkplace({ tools: [echo, plain] })
    const before = await contentsOf(directory)
    const refusal = expect.objectContaining({ name: "MeanwhileError", code, message: expect.stringMatching(message) })
    await expect(meanwhile.tasks.start(call)).rejects.toEqual(refusal)
    await expect(meanwhile.tasks.execute(call).answer).rejects.toEqual(refusal)
    await expect(meanwhile.tasks.adopt(call, Promise.resolve())).rejects.toEqual(refusal)
    expect(await contentsOf(directory)).toEqual(before)
  })
}

test("the longest delay, the highest priority and the longest names are taken, and their tasks are listed", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const { tasks } = meanwhile
  const [workspace, session] = ["w".repeat(512) as WorkspaceId, "s".repeat(512) as SessionId]
  const { id: group } = await tasks.groups.open({ name: "all", workspace, session })
  const delayMs = 10 * 365 * 24 * 60 * 60 * 1_000
  const limits = { delayMs, priority: 2 ** 31 - 1, workspace, session, group, idempotencyKey: "k".repeat(512) }
  const { id } = await tasks.start({ tool: "echo", input: {}, ...limits })
  expect((await tasks.list({ workspace }, { limit: 5 })).items).toMatchObject([{ id, priority: 2 ** 31 - 1, session }])
  await tasks.prioritize(id, -(2 ** 31), workspace)
  for (const priority of [2 ** 31, 0.5, Number.NaN]) {
    const refusal = { code: "invalid_input", details: { field: "priority" } }
    await expect(tasks.prioritize(id, priority, workspace)).rejects.toMatchObject(refusal)
  }
  for (const long of [{ workspace: LONG as WorkspaceId }, { session: LONG as SessionId }]) {
    const refused = tasks.groups.open({ name: "more", ...long })
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", details: { field: Object.keys(long)[0] } })
  }
})

test("starting a tool that is not background-capable is refused", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [plain] })
  const before = await contentsOf(directory)
  await expect(meanwhile.tasks.start({ tool: "plain", input: {} })).rejects.toMatchObject({
    code: "not_background_capable",
    message: expect.stringMatching(/Call it in the foreground: its background policy is "never"/),
  })
  expect(await contentsOf(directory)).toEqual(before)
})

test("a time limit below the threshold is refused in the foreground, and says how to go on", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
  const before = await contentsOf(directory)
  const call = { tool: "echo", input: {}, timeoutMs: 5_000 }
  for (const short of [call, { ...call, idempotencyKey: "k" }]) {
    await expect(meanwhile.tasks.execute(short).answer).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringMatching(/must exceed the 10000 ms.*Raise it, or start the call in the background/s),
    })
  }
  expect(await contentsOf(directory)).toEqual(before)
})

test("a dead process cannot be adopted", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
  const before = await contentsOf(directory)
  const { pid } = spawnSync("true")
  for (const dead of [pid, -1, 0, Number.NaN, 1.5]) {
    await expect(meanwhile.tasks.adopt({ tool: "echo", input: {} }, { pid: dead })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("Give the pid of one that runs"),
    })
  }
  expect(await contentsOf(directory)).toEqual(before)
})

test("a session that does not exist cannot be deleted", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
  const before = await contentsOf(directory)
  await expect(meanwhile.tasks.deleteSession("none" as SessionId)).rejects.toMatchObject({ code: "not_found" })
  expect(await contentsOf(directory)).toEqual(before)
})

test("nobody can claim that a time limit or a lost worker ended a task", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  const execution = tasks.execute({ tool: "gated", input: {} })
  for (const by of ["deadline", "lost_worker", "shutdown"] as const) {
    // @ts-expect-error: these are found out, not asked for.
    await expect(tasks.cancel(id, { by })).rejects.toMatchObject({ code: "invalid_input", details: { field: "by" } })
    // @ts-expect-error: the same.
    expect(() => execution.cancel({ by })).toThrow(expect.objectContaining({ code: "invalid_input" }))
  }
  expect(await tasks.cancel(id, { by: "model" })).toMatchObject({ status: "stopping", stop: { by: "model" } })
})
