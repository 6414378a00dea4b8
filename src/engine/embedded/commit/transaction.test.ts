import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { systemClock } from "../../../base/clock.ts"
import { MeanwhileError } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import type { Perform } from "../../rules/perform.ts"
import { openDatabase } from "../open.ts"
import { createPrepare } from "../sqlite/statement.ts"
import { NO_FILE } from "../file-presence.ts"
import { createRecordCache } from "../tables/record-cache.ts"
import { createTables } from "../tables/tables.ts"
import { createFolder } from "../../../../test/support/embedded/store.ts"
import { createTransaction } from "./group-commit.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

const toRelease = (key: string): readonly Operation[] => [{ op: "lease.release", key, holder: "h", fence: 1 }]
const TAKEN = toRelease("taken")
const REFUSED = toRelease("refused")

/** Accepts every operation but one. */
const perform = ((operation: Operation) => {
  if (operation === REFUSED[0]) throw new MeanwhileError("stale_claim", "refused")
  return null
}) as Perform

describe("the disk wait is told of a commit", () => {
  const groups = [
    { name: "of one writer", writers: [TAKEN], count: 1 },
    { name: "of which one of two was refused", writers: [TAKEN, REFUSED], count: 1 },
    { name: "but not when its only writer was refused", writers: [REFUSED], count: 0 },
    { name: "but not when all its writers were refused", writers: [REFUSED, REFUSED], count: 0 },
  ]
  test.for(groups)("$name", async ({ writers, count }) => {
    using database = await openDatabase({ path, synchronous: "full" })
    let told = 0
    const run = createTransaction({
      database,
      clock: systemClock,
      perform,
      cache: createRecordCache(database, createTables(createPrepare(database))),
      logRoom: { make: () => {}, close: () => {} },
      diskWait: { choose: () => {}, beforeCommit: () => {}, committed: () => (told += 1), close: async () => {} },
      presence: NO_FILE,
    })
    run(writers, true)
    expect(told).toBe(count)
  })
})
