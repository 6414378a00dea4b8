import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { DEFAULT_WORKSPACE, type SessionId } from "../../src/task/id.ts"
import { beginHeldTurn } from "../support/held-turn.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const session = "a session" as SessionId

/** How long a broken test takes to fail. */
const PATIENCE_MS = 20_000

async function openWithLives() {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, directory } = await createWorkplace({
    tools: [gated.tool],
    background: { maxConcurrentPerPlugin: 9 },
  })
  const { tasks, engine } = meanwhile
  await engine.store.commit([{ op: "session.create", id: session, workspace: DEFAULT_WORKSPACE, data: {} }])
  const turn = await beginHeldTurn(tasks, { session })
  const start = (lifetime: "turn" | "session" | "runtime" | "forever") =>
    tasks.start({ tool: "gated", input: {}, session, parentTask: turn.id, lifetime })
  const lives = {
    turn: await start("turn"),
    session: await start("session"),
    runtime: await start("runtime"),
    forever: await start("forever"),
  }
  await gated.call(4)
  for (const { context } of gated.calls) context.output.write("printed\n")
  /** Waits for the tasks that are to end, then looks at all of them. */
  const statuses = async (...ending: (keyof typeof lives)[]) => {
    for (const life of ending) await tasks.result(lives[life].id, { waitMs: PATIENCE_MS })
    const statusOf = async (id: string) => (await tasks.get(id)).task.status
    return {
      turn: await statusOf(lives.turn.id),
      session: await statusOf(lives.session.id),
      runtime: await statusOf(lives.runtime.id),
      forever: await statusOf(lives.forever.id),
    }
  }
  return { tasks, engine, directory, turn, lives, statuses }
}

test("the end of a turn stops its tasks of lifetime turn", async () => {
  const { tasks, turn, lives, statuses } = await openWithLives()
  await turn.end()
  expect(await statuses("turn")).toEqual({
    turn: "cancelled",
    session: "running",
    runtime: "running",
    forever: "running",
  })
  expect((await tasks.get(lives.turn.id)).task).toMatchObject({ stop: { by: "lifetime", reason: "its turn ended" } })
})

test("closing a session stops its tasks of lifetime turn and session, and keeps the records", async () => {
  const { tasks, statuses } = await openWithLives()
  await tasks.closeSession(session)
  expect(await statuses("turn", "session")).toEqual({
    turn: "cancelled",
    session: "cancelled",
    runtime: "running",
    forever: "running",
  })
})

test("deleting a session ends and removes all its tasks but those of lifetime forever", async () => {
  const { tasks, engine, directory, lives } = await openWithLives()
  await tasks.deleteSession(session)
  for (const { id } of [lives.turn, lives.session, lives.runtime]) {
    await expect(tasks.get(id)).rejects.toMatchObject({ code: "not_found" })
    expect(existsSync(join(directory, "data", "spool", id))).toBe(false)
  }
  expect((await tasks.get(lives.forever.id)).task).toMatchObject({ status: "running", session: null })
  expect((await tasks.output(lives.forever.id)).text).toBe("printed\n")
  expect(await engine.store.session(session)).toBeUndefined()
})
