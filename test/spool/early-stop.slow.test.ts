import { setTimeout as pause } from "node:timers/promises"
import { expect, test } from "vitest"
import { createWorkplace } from "../support/workplace.ts"

const TRIES = 40

test("a stop in the first moments of a command reaches it, whatever has been started by then", async () => {
  // The grace is longer than a test may take: a command that the signal missed would be waited for until the test is over time.
  const { meanwhile } = await createWorkplace({ background: { stopGraceSeconds: 3_600 } })
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const execution = meanwhile.tasks.execute({ tool: "run_command", input: { command: "sleep 1000" } })
    await pause((attempt % 10) / 2)
    execution.cancel()
    expect(await execution.answer).toMatchObject({ outcome: "cancelled", survivors: [] })
  }
})
