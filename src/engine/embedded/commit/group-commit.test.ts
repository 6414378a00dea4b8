import { describe, expect, test } from "vitest"
import type { Operation } from "../../../task/operation.ts"
import { expectRefusal } from "../../suite/subject.ts"
import { toStoreError } from "../sqlite/sqlite-error.ts"
import { createGroupCommit, type RunTransaction } from "./group-commit.ts"
import { createWriteRefusals } from "./write-refusals.ts"
import { createChange, type Outcome } from "../../rules/change.ts"

const OPERATION: Operation = { op: "lease.renew", key: "k", holder: "h", fence: 1 }

function sqliteError(errcode: number): Error {
  return Object.assign(new Error("from SQLite"), { errcode })
}

const BUSY = sqliteError(5)
const FULL = sqliteError(13)
const FAILED_WRITE = sqliteError(10 | (4 << 8))

/** Waits for a lock, and for nothing else. */
const HASTY = createWriteRefusals("store", { patienceMs: 0 })

const giveUpAfter = (mostMs: number) => (error: unknown, sinceMs: number) =>
  performance.now() - sinceMs < mostMs ? { pauseMs: 1 } : { refusal: toStoreError(error, "store") }

const done = (): Outcome => ({ isRefused: false, answers: [null], change: createChange(0) })

/** A transaction that does what `run` says, and remembers how large each group was. */
function createScript(run: (size: number, attempt: number) => void) {
  const sizes: number[] = []
  const waits: boolean[] = []
  return {
    sizes,
    waits,
    run(writers: Parameters<RunTransaction>[0], waitsForDisk: boolean) {
      sizes.push(writers.length)
      waits.push(waitsForDisk)
      run(writers.length, sizes.length)
      return writers.map(done)
    },
  }
}

describe("group commit", () => {
  test("writers of the same tick share one transaction, and are told of it once it is durable", async () => {
    const script = createScript(() => undefined)
    let told = 0
    const { commit } = createGroupCommit(
      script.run,
      "store",
      (changes) => {
        told += changes.length
      },
      HASTY,
    )
    await Promise.all(Array.from({ length: 100 }, () => commit([OPERATION])))
    expect(script.sizes).toEqual([100])
    expect(told).toBe(100)
    await commit([OPERATION])
    expect(script.sizes).toEqual([100, 1])
  })

  test("a group waits for the disk unless none of its writers does", async () => {
    const script = createScript(() => undefined)
    const { commit } = createGroupCommit(script.run, "store", () => undefined, HASTY)
    await commit([OPERATION])
    await Promise.all([commit([OPERATION], { waitsForDisk: false }), commit([OPERATION])])
    await commit([OPERATION], { waitsForDisk: false })
    expect(script.waits).toEqual([true, true, false])
  })

  test("a very large group is split, so that others get a turn", async () => {
    const script = createScript(() => undefined)
    const { commit } = createGroupCommit(script.run, "store", () => undefined, HASTY)
    await Promise.all(Array.from({ length: 1_200 }, () => commit([OPERATION])))
    expect(script.sizes).toEqual([500, 500, 200])
  })

  test("while another process holds the lock the group waits, grows and loses nobody", async () => {
    const script = createScript((_, attempt) => {
      if (attempt < 4) throw BUSY
    })
    const { commit } = createGroupCommit(script.run, "store", () => undefined, HASTY)
    const first = commit([OPERATION])
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([first, commit([OPERATION])])
    expect(script.sizes.length).toBe(4)
    expect(script.sizes.at(-1)).toBe(2)
  })

  test("a lock that is never given back fails the group in the end, and the next one works", async () => {
    let isLocked = true
    const script = createScript(() => {
      if (isLocked) throw BUSY
    })
    const { commit } = createGroupCommit(script.run, "store", () => undefined, { ...HASTY, refused: giveUpAfter(20) })
    await expectRefusal(commit([OPERATION]), "store_unavailable")
    isLocked = false
    expect(await commit([OPERATION])).toEqual([null])
  })

  test("a commit that fails fails everyone in it, and the next one works", async () => {
    const script = createScript((_, attempt) => {
      if (attempt === 1) throw FAILED_WRITE
    })
    const { commit } = createGroupCommit(script.run, "store", () => undefined, HASTY)
    const both = [commit([OPERATION]), commit([OPERATION])]
    await Promise.all(both.map((one) => expectRefusal(one, "store_unavailable")))
    expect(await commit([OPERATION])).toEqual([null])
  })

  test("when the disk is full each writer tries alone, and only those that do not fit fail", async () => {
    const script = createScript((size, attempt) => {
      if (size > 1 || attempt === 3) throw FULL
    })
    const { commit } = createGroupCommit(script.run, "store", () => undefined, HASTY)
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => commit([OPERATION])))
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"])
    expect(outcomes[1]).toMatchObject({ reason: { code: "disk_full" } })
    expect(script.sizes).toEqual([4, 1, 1, 1, 1])
  })

  test("closing waits for earlier commits and refuses later ones", async () => {
    const script = createScript((_, attempt) => {
      if (attempt < 3) throw BUSY
    })
    const { commit, close } = createGroupCommit(script.run, "store", () => undefined, HASTY)
    const before = commit([OPERATION])
    const closed = close()
    await expectRefusal(commit([OPERATION]), "closed")
    await closed
    expect(await before).toEqual([null])
    await close()
  })
})
