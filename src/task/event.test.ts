import { expect, test } from "vitest"
import { type LifecycleEvent, toLogged } from "./event.ts"
import { toPatch } from "./patch.ts"

const failure = { code: "broken", message: "It broke.", details: {} }
const patch = { ...toPatch({ secret: "payload" }), digest: ["short"] }

test("the log keeps the digest of a completed run and never its payload", () => {
  expect(toLogged({ type: "task.completed", patch })).toEqual({ type: "task.completed", digest: ["short"] })
  const events: LifecycleEvent[] = [
    { type: "task.completed", patch },
    { type: "task.failed", failure, patch },
    { type: "task.cancelled", by: "person", reason: "", survivors: [], late: patch },
    { type: "task.timed_out", by: "deadline", reason: "", survivors: "unknown", late: patch },
  ]
  for (const event of events) {
    expect(JSON.stringify(toLogged(event))).not.toContain("payload")
    expect(toLogged(event).type).toBe(event.type)
  }
})

test("the log keeps everything else as it was", () => {
  const stop: LifecycleEvent = { type: "task.stop_requested", by: "model", reason: "enough" }
  expect(toLogged(stop)).toEqual(stop)
  expect(toLogged({ type: "task.failed", failure, patch: null })).toEqual({ type: "task.failed", failure })
})

test("a plain value becomes a patch whose digest a model can read", () => {
  expect(toPatch("hello").digest).toEqual(["hello"])
  expect(toPatch({ n: 1 }).digest).toEqual(['{"n":1}'])
  expect(toPatch(null).digest).toEqual([])
  expect(toPatch("").digest).toEqual([])
  const [line] = toPatch("x".repeat(9_000)).digest
  expect(line).toHaveLength(400)
  expect(line?.endsWith("…")).toBe(true)
})
