import { expect, test } from "vitest"
import type { TaskId } from "../format/format.ts"
import { describeLack } from "./describe-lack.ts"

type Tasks = Parameters<typeof describeLack>[0]["tasks"]

const QUEUED = { id: "1f0c5a7e-0000" as TaskId, status: "queued" } as const

function describe(find: () => Promise<unknown>): Promise<string> {
  return describeLack({ tasks: { find: find as Tasks["find"] } }, QUEUED)
}

test("the reason why a task stays in the queue is given, and left out if it cannot be read", async () => {
  expect(await describe(async () => ({ missing: { text: "no worker is there" } }))).toBe(
    " (it waits: no worker is there)",
  )
  expect(await describe(async () => ({ missing: null }))).toBe("")
  expect(await describe(() => Promise.reject(new Error("the store is away")))).toBe("")
})
