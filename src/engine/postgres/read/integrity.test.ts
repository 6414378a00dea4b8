import { afterAll, beforeAll, expect, test } from "vitest"
import { createEndedTask, createTask, sampleWait } from "../../suite/samples.ts"
import { openDatabase } from "../connection/open-database.ts"
import type { Database } from "../connection/database.ts"
import { createTestPostgres } from "../../../../test/support/postgres/engine.ts"

let subject: Awaited<ReturnType<typeof createTestPostgres>>
let database: Database

beforeAll(async () => {
  subject = await createTestPostgres()
  database = await openDatabase({ url: subject.url })
})

afterAll(async () => {
  await database.close()
  await subject.dispose()
})

test("a healthy store has no problems; each kind of damage is told, and where", async () => {
  const { store } = subject.engine
  const one = await createEndedTask(subject.engine)
  const other = await createEndedTask(subject.engine)
  const waiting = await createTask(subject.engine, { as: "waiting", wait: sampleWait() })
  expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
  const taskOf = (id: string): string => `(SELECT number FROM tasks WHERE id = '${id}')`
  await database.query(`DELETE FROM events WHERE task = ${taskOf(one.id)} AND sequence = 1`)
  await database.query(`DELETE FROM notices WHERE task = ${taskOf(one.id)}`)
  await database.query(`UPDATE tasks SET last_sequence = last_sequence + 1, ended_at = NULL WHERE id = '${other.id}'`)
  await database.query(`DELETE FROM waits WHERE task = ${taskOf(waiting.id)}`)
  await database.query("INSERT INTO runs VALUES (999999, 1, '{}')")
  const { isHealthy, problems } = await store.checkIntegrity()
  expect(isHealthy).toBe(false)
  expect(new Set(problems)).toEqual(
    new Set([
      `The events of task ${other.id} do not end at ${other.lastSequence + 1}.`,
      `The events of task ${one.id} have a gap.`,
      `The events of task ${other.id} have a gap.`,
      `Task ${other.id} is completed but has no end.`,
      `Task ${one.id} ended without a notice.`,
      `Task ${waiting.id} waits for nothing that is open.`,
      "A row of runs belongs to a row of tasks that does not exist.",
    ]),
  )
})
