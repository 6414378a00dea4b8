import { expect, test } from "vitest"
import { createLeaving } from "./ending.ts"

test("the first reason to leave counts, except that a signal replaces the end of input", async () => {
  const heard: string[] = []
  const quits = createLeaving(() => heard.push("quits"))
  quits.end("quit", "keep")
  quits.end("interrupt", "keep")
  await quits.wanted
  expect(quits.reason()).toBe("quit")

  const ends = createLeaving(() => heard.push("ends"))
  ends.end("end of input", "keep")
  await ends.wanted
  expect(heard).toEqual(["quits"])
  ends.end("quit", "keep")
  expect(ends.reason()).toBe("end of input")
  ends.end("interrupt", "keep")
  expect(ends.reason()).toBe("interrupt")
  expect(heard).toEqual(["quits", "ends"])
})
