import { setTimeout as pause } from "node:timers/promises"
import { expect, test } from "vitest"
import { createWorkplace } from "../support/workplace.ts"

const TRIES = 40
/** Longer than a stop takes if its signal reaches the command. */
const GRACE_SECONDS = 60

test("a stop in the first moments of a command reaches it, whatever has been started by then", async () => {
  const { meanwhile } = await createWorkplace({ background: { stopGraceSeconds: GRACE_SECONDS } })
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const execution = meanwhile.tasks.execute({ tool: "run_command", input: { command: "sleep 1000" } })
    await pause((attempt % 10) / 2)
    const stoppedAtMs = performance.now()
    execution.cancel()
    expect(await execution.answer).toMatchObject({ outcome: "cancelled", survivors: [] })
    // A command that the signal missed is killed only when the grace is over.
    expect(performance.now() - stoppedAtMs).toBeLessThan(GRACE_SECONDS * 1_000)
  }
})
