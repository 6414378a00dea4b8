import { expect, test } from "vitest"
import type { Task } from "../format.ts"
import type { TaskContext } from "./command.ts"
import { describeLack } from "./describe-lack.ts"

const QUEUED = { id: "1f0c5a7e-0000", status: "queued" } as unknown as Task

function describe(get: () => Promise<unknown>): Promise<string> {
  return describeLack({ tasks: { get } } as unknown as TaskContext["meanwhile"], QUEUED)
}

test("what keeps a task in the queue is said, and left out when it cannot be read", async () => {
  expect(await describe(async () => ({ missing: { text: "no worker is there" } }))).toBe(": no worker is there")
  expect(await describe(async () => ({ missing: null }))).toBe("")
  expect(await describe(() => Promise.reject(new Error("the store is away")))).toBe("")
})
