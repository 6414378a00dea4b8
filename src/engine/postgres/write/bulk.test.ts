import { setImmediate as turn } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { createBulk } from "./bulk.ts"

test("what was sent before a mistake was found fails without ending the process", async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on("unhandledRejection", hear)
  onTestFinished(() => void process.off("unhandledRejection", hear))
  const bulk = createBulk(() => Promise.reject(new Error("the connection was lost")))
  bulk.run(1, "DELETE FROM tasks", [])
  await turn()
  expect(unheard).toEqual([])
})
