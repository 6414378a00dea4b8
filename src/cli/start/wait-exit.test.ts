import { expect, test } from "vitest"
import { withWaitExit } from "./wait-exit.ts"

const countAnswering = (): number => process.listenerCount("SIGTERM")

test("a signal is answered from the first line about the store until the store is there, or has failed", async () => {
  const before = countAnswering()
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  const opened = await withWaitExit(print, async (tell) => {
    expect(countAnswering()).toBe(before)
    tell("It is waited for.")
    tell("It is back.")
    expect(countAnswering()).toBe(before + 1)
    return { tell }
  })
  expect(countAnswering()).toBe(before)
  opened.tell("It is away again.")
  expect(countAnswering()).toBe(before)
  const refused = withWaitExit(print, async (tell) => {
    tell("It is waited for.")
    throw new Error("it cannot be had")
  })
  await expect(refused).rejects.toThrow("it cannot be had")
  expect(countAnswering()).toBe(before)
  expect(lines).toEqual(["It is waited for.", "It is back.", "It is away again.", "It is waited for."])
})
