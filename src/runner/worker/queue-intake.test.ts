import { expect, test } from "vitest"
import { createQueueHint } from "./queue-intake.ts"

test("until a look has found nothing, something may be queued", () => {
  const hint = createQueueHint()
  expect(hint.mayHaveQueued).toBe(true)
  const foundNothing = hint.beginLook()
  expect(hint.mayHaveQueued).toBe(true)
  foundNothing()
  expect(hint.mayHaveQueued).toBe(false)
})

test("work heard of during a look still counts as queued after it", () => {
  const hint = createQueueHint()
  const foundNothing = hint.beginLook()
  hint.raise()
  foundNothing()
  expect(hint.mayHaveQueued).toBe(true)
  hint.beginLook()()
  expect(hint.mayHaveQueued).toBe(false)
})
