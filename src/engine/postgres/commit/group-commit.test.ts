import { setImmediate as nextTick } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { MeanwhileError } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import { createChange, type Outcome } from "../../rules/change.ts"
import { createGroupCommit } from "./group-commit.ts"
import type { RunGroup } from "./run-group.ts"

const ACCEPTED: Outcome = { isRefused: false, answers: [null], change: createChange(1) }

function write(name: string): readonly Operation[] {
  return [{ op: "document.delete", workspace: "w" as never, collection: "c", id: name }]
}

const namesOf = (writers: readonly (readonly Operation[])[]): string[] =>
  writers.flat().map((operation) => (operation.op === "document.delete" ? operation.id : ""))

describe("a group commit", () => {
  test("takes the writers of one tick together, and those that come meanwhile next", async () => {
    const groups: string[][] = []
    const ends: (() => void)[] = []
    const { commit } = createGroupCommit(
      async (writers) => {
        groups.push(namesOf(writers))
        await new Promise<void>((resolve) => ends.push(resolve))
        return writers.map(() => ACCEPTED)
      },
      () => {},
    )
    const first = [commit(write("a")), commit(write("b"))]
    await nextTick()
    const second = [commit(write("c")), commit(write("d"))]
    await nextTick()
    expect(groups).toEqual([["a", "b"]])
    ends[0]?.()
    await Promise.all(first)
    await nextTick()
    expect(groups).toEqual([
      ["a", "b"],
      ["c", "d"],
    ])
    ends[1]?.()
    await Promise.all(second)
  })

  test("is half of those who wait, but not fewer than 50 and never more than 500", async () => {
    const sizes: number[] = []
    const { commit } = createGroupCommit(
      (writers) => {
        sizes.push(writers.length)
        return Promise.resolve(writers.map(() => ACCEPTED))
      },
      () => {},
    )
    await Promise.all(Array.from({ length: 1_201 }, (_, index) => commit(write(String(index)))))
    expect(sizes).toEqual([500, 351, 175, 88, 50, 37])
  })

  test("fails a refused writer alone, and tells of the others", async () => {
    const told: number[] = []
    const refusal = new MeanwhileError("wrong_state", "no")
    const { commit } = createGroupCommit(
      (writers) =>
        Promise.resolve(
          namesOf(writers).map((name) => (name === "b" ? { isRefused: true, error: refusal } : ACCEPTED)),
        ),
      (changes) => told.push(changes.length),
    )
    const results = await Promise.allSettled(["a", "b", "c"].map((name) => commit(write(name))))
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect(told).toEqual([2])
  })

  test("that the store cannot keep is split until the writer to blame is found", async () => {
    const groups: string[][] = []
    const runGroup: RunGroup = (writers) => {
      groups.push(namesOf(writers))
      if (namesOf(writers).includes("d")) return Promise.reject(new MeanwhileError("invalid_input", "not this"))
      return Promise.resolve(writers.map(() => ACCEPTED))
    }
    const { commit } = createGroupCommit(runGroup, () => {})
    const results = await Promise.allSettled("abcdefgh".split("").map((name) => commit(write(name))))
    expect(results.flatMap(({ status }, index) => (status === "rejected" ? ["abcdefgh"[index]] : []))).toEqual(["d"])
    expect(groups.map((group) => group.join(""))).toEqual(["abcdefgh", "abcd", "ab", "cd", "c", "d", "efgh"])
  })

  test.each([
    ["XX000", ["d"]],
    ["53200", ["d"]],
    ["42501", ["a", "b", "c", "d"]],
    ["57P01", ["a", "b", "c", "d"]],
  ])("that the server refuses with %s fails %j", async (code, refused) => {
    const runGroup: RunGroup = (writers) => {
      if (!namesOf(writers).includes("d")) return Promise.resolve(writers.map(() => ACCEPTED))
      const cause = Object.assign(new Error("not this"), { code })
      return Promise.reject(new MeanwhileError("store_unavailable", "not this", {}, { cause }))
    }
    const { commit } = createGroupCommit(runGroup, () => {})
    const results = await Promise.allSettled("abcd".split("").map((name) => commit(write(name))))
    expect(results.flatMap(({ status }, index) => (status === "rejected" ? ["abcd"[index]] : []))).toEqual(refused)
  })

  test("that is too long for a text is split, and a writer that is too long by itself is refused", async () => {
    const { commit } = createGroupCommit(
      (writers) =>
        Promise.resolve(
          namesOf(writers)
            .join("")
            .repeat(2 ** 28),
        ).then(() => writers.map(() => ACCEPTED)),
      () => {},
    )
    const results = await Promise.allSettled(["a", "b", "too long"].map((name) => commit(write(name))))
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"])
    expect(results[2]).toMatchObject({ reason: { code: "invalid_input" } })
  })

  test("fails all its writers when the store cannot be reached, and goes on with the next", async () => {
    let isDown = true
    const { commit } = createGroupCommit(
      (writers) =>
        isDown
          ? Promise.reject(new MeanwhileError("store_unavailable", "down"))
          : Promise.resolve(writers.map(() => ACCEPTED)),
      () => {},
    )
    const results = await Promise.allSettled([commit(write("a")), commit(write("b"))])
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"])
    isDown = false
    await expect(commit(write("c"))).resolves.toEqual([null])
  })

  test("waits for its writers when it is closed, and takes no more", async () => {
    const { commit, close } = createGroupCommit(
      async (writers) => {
        await nextTick()
        return writers.map(() => ACCEPTED)
      },
      () => {},
    )
    const written = commit(write("a"))
    const closed = close()
    await expect(commit(write("b"))).rejects.toMatchObject({ code: "closed" })
    await closed
    await expect(written).resolves.toEqual([null])
  })
})
