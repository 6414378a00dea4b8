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

test("what is heard of during a look is not taken for what it has seen", () => {
  const hint = createQueueHint()
  const foundNothing = hint.beginLook()
  hint.raise()
  foundNothing()
  expect(hint.mayHaveQueued).toBe(true)
  hint.beginLook()()
  expect(hint.mayHaveQueued).toBe(false)
})
