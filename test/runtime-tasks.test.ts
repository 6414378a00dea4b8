import { expect, test } from "vitest"
import { createRuntime } from "../src/app.ts"

test("a runtime shows the commands over tasks, and nothing of how they are run", async () => {
  await using runtime = await createRuntime()
  expect(Object.keys(runtime.tasks).toSorted()).toEqual([
    "acknowledge",
    "adopt",
    "answer",
    "artifact",
    "cancel",
    "cleanupCompleted",
    "clear",
    "counts",
    "estimate",
    "events",
    "execute",
    "get",
    "groups",
    "limit",
    "list",
    "output",
    "prioritize",
    "remove",
    "result",
    "resume",
    "retry",
    "say",
    "start",
    "waitFor",
    "waitForOutput",
    "workers",
  ])
})
