import { join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import type { OwnWork } from "../../src/cli/start/begun-here.ts"
import { clearCommand } from "../../src/cli/command/clear-command.ts"
import { createIdFiles } from "../../src/desk/id-files.ts"
import type { SessionId, TaskId } from "../../src/task/id.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { showCommand } from "../support/show-command.ts"
import { answersIn, openSubagents, spawn } from "../support/session/open-subagents.ts"

const clear = (meanwhile: Runtime, own: OwnWork): Promise<string> => showCommand(clearCommand, "", meanwhile, { own })

async function openShared() {
  const gated = createGatedTool()
  const main = [spawn("Work."), "Done.", "Well."]
  const opened = await openSubagents({ main, below: ["Worked."], tools: [echo, gated.tool] })
  const { runtime, session } = opened
  await session.send("Go.")
  const agent = answersIn(session)[0]?.session as SessionId
  const other = await runtime.createSession()
  await other.send("hello")
  const echoIn = async (of: SessionId | null, isUsed: boolean): Promise<TaskId> => {
    const { id } = await runtime.tasks.start({ tool: "echo", input: { value: "bread" }, session: of })
    await runtime.tasks.result(id, { waitMs: 20_000 })
    if (isUsed) await runtime.tasks.acknowledge([id])
    return id
  }
  const begun = createIdFiles<TaskId>(join(createFolder(), "tasks"))
  const own = { conversations: [session.id], tasks: begun }
  return { ...opened, agent, other, gated, echoIn, begun, own }
}

test("of a store that others share, one's own is cleared: a conversation, its agents, and what was begun without one", async () => {
  const { runtime, session, agent, other, echoIn, begun, own } = await openShared()
  expect(agent).toBeTypeOf("string")
  const mine = [await echoIn(session.id, true), await echoIn(agent, true), await echoIn(null, false)]
  const theirs = [await echoIn(other.id, true), await echoIn(null, false)]
  begun.add(mine[2] as TaskId)
  expect(await clear(runtime, own)).toBe("3 ended tasks of yours removed.\n")
  for (const id of mine) await expect(runtime.tasks.get(id)).rejects.toMatchObject({ code: "not_found" })
  for (const id of theirs) expect((await runtime.tasks.get(id)).task.status).toBe("completed")
  expect(begun.list()).toEqual([])
})

test("what was begun and lives stays, and is cleared when it has ended; what is gone already is forgotten", async () => {
  const { runtime, gated, echoIn, begun, own } = await openShared()
  const { id: live } = await runtime.tasks.start({ tool: "gated", input: {} })
  const gone = await echoIn(null, false)
  await runtime.tasks.remove(gone)
  for (const id of [live, gone]) begun.add(id)
  expect(await clear(runtime, own)).toBe("0 ended tasks of yours removed.\n")
  expect(begun.list()).toEqual([live])
  const { finish } = await gated.call(1)
  finish()
  await runtime.tasks.result(live, { waitMs: 20_000 })
  expect(await clear(runtime, own)).toBe("1 ended task of yours removed.\n")
})

test("only results that one's own conversations have not used are said to be kept", async () => {
  const { runtime, session, other, echoIn, own } = await openShared()
  await echoIn(session.id, false)
  await echoIn(other.id, false)
  const kept = "1 was kept: its conversation has not used the result yet.\n"
  expect(await clear(runtime, own)).toBe(`0 ended tasks of yours removed.\n${kept}`)
})
