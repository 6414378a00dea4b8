import { copyFileSync, mkdirSync, readFileSync, truncateSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import type { Engine } from "../../task/engine.ts"
import type { TaskId } from "../../task/id.ts"
import type { RunStatus } from "../../task/lifecycle.ts"
import { applyEvents, COMPLETED, createTask, RUNNING } from "../suite/samples.ts"
import { createEmbeddedEngine } from "./engine.ts"
import { createTestStore } from "../../../test/support/embedded/store.ts"

const SEED = Number(process.env["MEANWHILE_TEST_SEED"] ?? 7)
const LANES = 10
const CRASHES = 25

/** Keeps the engine busy and remembers what it answered, until stopped. */
function keepBusy(engine: Engine) {
  const answered = new Map<TaskId, RunStatus>()
  let isStopped = false
  const lanes = Array.from({ length: LANES }, async () => {
    while (!isStopped) {
      const { id } = await createTask(engine, RUNNING)
      answered.set(id, "running")
      await applyEvents(engine, id, COMPLETED)
      answered.set(id, "completed")
    }
  })
  return {
    answered,
    async stop() {
      isStopped = true
      await Promise.all(lanes)
    },
  }
}

/** The state a process killed now leaves behind: nothing is closed, no memory is shared. */
function copyAsCrashed(path: string, name: string): string {
  const copy = join(dirname(path), name, "store.sqlite")
  mkdirSync(dirname(copy))
  copyFileSync(path, copy)
  copyFileSync(`${path}-wal`, `${copy}-wal`)
  return copy
}

function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

describe(`after a crash (seed ${SEED})`, () => {
  test("everything that was answered is there and nothing is half there", async () => {
    const random = createRandom(SEED)
    const { engine, path, dispose } = await createTestStore()
    const work = keepBusy(engine)
    for (let crash = 0; crash < CRASHES; crash++) {
      for (let tick = random() * 8; tick > 0; tick--) await new Promise((resolve) => setImmediate(resolve))
      const answered = new Map(work.answered)
      const copy = copyAsCrashed(path, `crash-${crash}`)
      await using reopened = await createEmbeddedEngine({ path: copy })
      expect(await reopened.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
      for (const [id, status] of answered) {
        const found = (await reopened.store.task(id))?.status
        expect(found === status || found === "completed").toBe(true)
      }
    }
    await work.stop()
    await dispose()
  })

  test("a log whose end was torn loses that end and nothing else", async () => {
    const random = createRandom(SEED)
    const { engine, path, dispose } = await createTestStore()
    const ids: TaskId[] = []
    for (let count = 0; count < 40; count++) ids.push((await createTask(engine, RUNNING)).id)
    // Behind the written part lies room for later commits.
    const logBytes = readFileSync(`${path}-wal`).findLastIndex((byte) => byte !== 0) + 1
    for (let crash = 0; crash < CRASHES; crash++) {
      const copy = copyAsCrashed(path, `torn-${crash}`)
      truncateSync(`${copy}-wal`, Math.floor(logBytes * (0.6 + 0.4 * random())))
      await using reopened = await createEmbeddedEngine({ path: copy })
      expect(await reopened.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
      const count = await reopened.store.countTasks({})
      const found = await Promise.all(ids.map((id) => reopened.store.task(id)))
      expect(found.map((task) => task !== undefined)).toEqual(ids.map((_, index) => index < count))
    }
    await dispose()
  })

  test("an engine that was abandoned without closing leaves a store that others use", async () => {
    const { engine, another, dispose } = await createTestStore()
    const task = await createTask(engine, RUNNING)
    const unanswered = createTask(engine, RUNNING)
    const next = await another()
    expect(await next.store.task(task.id)).toEqual(task)
    expect(await applyEvents(next, task.id, COMPLETED)).toMatchObject({ status: "completed" })
    await unanswered
    await dispose()
  })
})
