import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createSession } from "../../src/engine/suite/samples.ts"
import { encodeIdentity, thisProcessIdentity } from "../../src/runner/process/identity.ts"
import type { BackgroundPolicy } from "../../src/plugin/tool.ts"
import { createTaskId, type SessionId, type TaskId } from "../../src/task/id.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"

const MINUTE_MS = 60_000
const OF_THIS_PROCESS = encodeIdentity(thisProcessIdentity())
const OF_A_DEAD_ONE = encodeIdentity({ ...thisProcessIdentity(), startedAt: "1" })

async function openPlace(background: BackgroundPolicy = { mode: "after" }, options: WorkplaceOptions = {}) {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true, background })
  const place = await createWorkplace({ tools: [gated.tool], clock, ...options })
  const folderOf = (id: TaskId): string => join(place.directory, "data", "spool", id)
  const has = (id: TaskId): boolean => existsSync(folderOf(id))
  return {
    ...place,
    gated,
    has,
    /** Files as a process leaves them that is killed before it removes them. */
    leave(id: TaskId, owner: string): void {
      mkdirSync(join(folderOf(id), "1"), { recursive: true })
      writeFileSync(join(folderOf(id), "1", "output"), "it printed this\n")
      writeFileSync(join(folderOf(id), "1", "owner"), owner)
    },
    /** Lets chores come round that are done within a minute. */
    async passMinute(): Promise<void> {
      for (let step = 0; step < 4; step++) {
        clock.advance(MINUTE_MS / 4)
        for (let turn = 0; turn < 20; turn++) await nextTurn()
      }
    },
    goesWithTime(id: TaskId): Promise<true> {
      return eventually("its files are gone", () => {
        clock.advance(MINUTE_MS / 4)
        return !has(id)
      })
    },
    /** A task that has printed and ended. Its result is not used. */
    async endOne(): Promise<{ readonly id: TaskId; readonly session: SessionId }> {
      const session = await createSession(place.meanwhile.engine)
      const { id } = await place.meanwhile.tasks.start({ tool: "gated", input: {}, session })
      const call = await gated.call(1)
      call.context.output.write("it printed this\n")
      call.finish("done")
      await place.meanwhile.tasks.result(id, { waitMs: 30_000 })
      return { id, session }
    },
  }
}

const REMOVALS: readonly (readonly [string, (taskId: TaskId, session: SessionId) => Operation])[] = [
  ["strips a task", (taskId) => ({ op: "task.strip", taskId })],
  ["removes a task", (taskId) => ({ op: "task.remove", taskId })],
  ["deletes a conversation", (_, id) => ({ op: "session.delete", id })],
]

describe("H7. The files of a run that ended are gone when the guide says so, whoever ended it", () => {
  test.each(REMOVALS)("when another process %s and is killed before it removes the files", async (_, toOperation) => {
    const { meanwhile, endOne, leave, passMinute, goesWithTime, has } = await openPlace()
    const { id, session } = await endOne()
    // With a store that keeps output they are gone by now, unless the store had refused a part.
    leave(id, OF_THIS_PROCESS)
    await passMinute()
    expect(has(id)).toBe(true)
    await meanwhile.engine.store.commit([toOperation(id, session)])
    await goesWithTime(id)
  })

  test("when a process is killed while it moves a call to the background, before the task is there", async () => {
    const { leave, goesWithTime } = await openPlace()
    const id = createTaskId()
    leave(id, OF_A_DEAD_ONE)
    await goesWithTime(id)
  })

  test("when only a chat is open that takes its own work alone", async () => {
    const { leave, goesWithTime } = await openPlace({ mode: "after" }, { takesWork: "own" })
    const id = createTaskId()
    leave(id, OF_A_DEAD_ONE)
    await goesWithTime(id)
  })

  test("but not those of a call in the foreground, here or in another process, however long it takes", async () => {
    const { meanwhile, another, gated, leave, passMinute, has } = await openPlace({ mode: "never" })
    await another()
    const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
    const call = await gated.call(1)
    const elsewhere = createTaskId()
    for (const id of [execution.taskId, elsewhere]) leave(id, OF_THIS_PROCESS)
    await passMinute()
    await passMinute()
    expect([execution.taskId, elsewhere].map(has)).toEqual([true, true])
    call.finish()
    await execution.answer
  })
})
