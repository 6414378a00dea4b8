import { expect, test } from "vitest"
import { type ErrorCode, MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ActiveRun } from "../../src/runner/run/active-run.ts"
import { storeOutput } from "../../src/runner/output/deliver-output.ts"
import type { RunnerScope } from "../../src/runner/admit/scope.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { eventually } from "../support/eventually.ts"

/** A run whose last output the store refuses this often. */
function open(code: ErrorCode, refusals: number) {
  const clock = createManualClock()
  let tries = 0
  const finish = async (): Promise<void> => {
    tries += 1
    if (tries <= refusals) throw new MeanwhileError(code, "The store refuses.")
  }
  const scope = { clock, log: silentLog, active: { isClosing: false } } as unknown as RunnerScope
  const active = { taskId: "task", output: { stream: { finish } } } as unknown as ActiveRun
  return { clock, tries: () => tries, stored: storeOutput(scope, active) }
}

test.each(["store_unavailable", "store_read_only", "disk_full"] as const)(
  "the last output of a run is stored once the store takes it: %s",
  async (code) => {
    const { clock, tries, stored } = open(code, 3)
    let isOver = false
    void stored.then(() => (isOver = true))
    await eventually("it is stored", () => {
      clock.advance(50)
      return isOver
    })
    expect(tries()).toBe(4)
  },
)

test("output that the store will never take does not keep a run from ending", async () => {
  const { tries, stored } = open("invalid_input", 3)
  await stored
  expect(tries()).toBe(1)
})
