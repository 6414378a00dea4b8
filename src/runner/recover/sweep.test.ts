import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../../test/support/workplace.ts"
import { systemClock } from "../../base/clock.ts"
import { createTaskId } from "../../task/id.ts"
import { thisProcessIdentity } from "../process/identity.ts"
import { createRedactor } from "../redaction/redactor.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { createSpool } from "../spool/spool.ts"
import { createSweeper, sweepSpool } from "./sweep.ts"

const LONG_AGO = new Date(Date.now() - 3_600_000)

test("a sweep keeps the folder of a call that runs here and has no record yet, and removes nobody's folder", async () => {
  const directory = createFolder()
  const redactor = createRedactor({ environment: {} })
  const spool = createSpool({ directory, clock: systemClock, redactor, owner: thisProcessIdentity() })
  const [here, nobodys] = [createTaskId(), createTaskId()]
  for (const id of [here, nobodys]) {
    mkdirSync(join(directory, id, "1"), { recursive: true })
    utimesSync(join(directory, id), LONG_AGO, LONG_AGO)
  }
  const active = new Map([[here, {}]])
  const store = { task: async () => undefined }
  const config = { stopGraceSeconds: 0, outputLimitBytes: 4_096 }
  await sweepSpool({ spool, active, store, config, engine: {} } as unknown as RunnerScope)
  expect([here, nobodys].map((id) => existsSync(join(directory, id)))).toEqual([true, false])
  await spool.close()
})

test("a sweep warns of a folder that it cannot clear away, and removes the others", async () => {
  const directory = createFolder()
  const redactor = createRedactor({ environment: {} })
  const spool = createSpool({ directory, clock: systemClock, redactor, owner: thisProcessIdentity() })
  const [stuck, nobodys] = [createTaskId(), createTaskId()].toSorted()
  if (!stuck || !nobodys) throw new Error("There are two.")
  // No folder of a run can be made below a file.
  writeFileSync(join(directory, stuck), "")
  mkdirSync(join(directory, nobodys, "1"), { recursive: true })
  for (const id of [stuck, nobodys]) utimesSync(join(directory, id), LONG_AGO, LONG_AGO)
  const warnings: unknown[] = []
  const log = { warn: (_message: string, fields: unknown) => warnings.push(fields) }
  const store = { task: async () => undefined }
  const config = { stopGraceSeconds: 0, outputLimitBytes: 4_096 }
  await sweepSpool({ spool, log, active: new Map(), store, config, engine: {} } as unknown as RunnerScope)
  expect(warnings).toEqual([{ task: stuck, error: expect.stringContaining("ENOTDIR") as string }])
  expect(existsSync(join(directory, nobodys))).toBe(false)
  await spool.close()
})

test("a sweep reads the tasks of all its folders at once, and none of them again that has left nothing", async () => {
  const directory = createFolder()
  const redactor = createRedactor({ environment: {} })
  const spool = createSpool({ directory, clock: systemClock, redactor, owner: thisProcessIdentity() })
  const ids = Array.from({ length: 20 }, () => createTaskId())
  for (const id of ids) mkdirSync(join(directory, id, "1"), { recursive: true })
  const read: string[] = []
  const isAllRead = Promise.withResolvers<void>()
  const task = async (id: string) => {
    if (read.push(id) === ids.length) isAllRead.resolve()
    await isAllRead.promise
    return { id, run: 1, status: "running", strippedAt: null }
  }
  const config = { stopGraceSeconds: 0, outputLimitBytes: 4_096 }
  const scope = { spool, active: new Map(), store: { task }, config, engine: { outputs: {} } }
  await createSweeper(scope as unknown as RunnerScope)()
  expect(read.toSorted()).toEqual(ids.toSorted())
  await spool.close()
})
