import { expect, test } from "vitest"
import type { JsonObject, JsonValue } from "../../src/base/json.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createMisplaced } from "../../src/runner/worker/misplaced.ts"
import type { RunnerScope } from "../../src/runner/scope.ts"
import { createTaskId, createWorkerId } from "../../src/task/id.ts"

const ABLE = { version: "1", since: 0, takes: "all", kinds: ["tool"], plugins: { shell: ["run"] }, concurrency: 1 }

interface Other {
  readonly process?: JsonObject
  readonly announcement: JsonValue
}

/** As much of a runner as it takes to leave what names a folder that is not here. Counts what is asked of others. */
function open(others: readonly Other[]) {
  const asked = { announced: 0, lists: 0 }
  const scope = {
    clock: createManualClock(),
    heldInputs: new Map(),
    worker: { id: createWorkerId() },
    tools: {
      names: () => new Map([["shell", new Set(["run"])]]),
      find: () => ({ plugin: "shell", tool: { isHere: () => false } }),
    },
    store: {
      task: async (id: string) => ({ id, kind: "tool", plugin: "shell", tool: "run", input: {} }),
      workers: async () => {
        asked.lists += 1
        return others.map((other) => ({ id: createWorkerId(), running: 0, process: { host: "there" }, ...other }))
      },
    },
  } as unknown as RunnerScope
  const misplaced = createMisplaced(scope, async () => void (asked.announced += 1))
  return { asked, misplaced }
}

const toOffer = () => ({
  taskId: createTaskId(),
  run: 1,
  session: null,
  workspace: "default",
  plugin: "shell",
  model: null,
})

test("however many are left in one look, others are told once and looked at once", async () => {
  const { asked, misplaced } = open([{ announcement: ABLE }])
  const offers = Array.from({ length: 300 }, toOffer)
  expect(await misplaced.sift(offers)).toEqual([])
  expect(misplaced.count("shell")).toBe(300)
  expect(asked).toEqual({ announced: 1, lists: 1 })
})

test("one that everybody leaves is claimed, beside others that somebody may have", async () => {
  const [left, wanted] = [toOffer(), toOffer()]
  const { misplaced } = open([{ announcement: { ...ABLE, leaves: [`${left.taskId}/1`] } }, { announcement: null }])
  expect(await misplaced.sift([left, wanted])).toEqual([left])
})

test("a worker of an earlier version says nothing and may have the folder", async () => {
  const { misplaced } = open([{ process: {}, announcement: null }])
  expect(await misplaced.sift([toOffer()])).toEqual([])
})
