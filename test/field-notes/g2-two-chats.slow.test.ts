import { expect, test } from "vitest"
import { openLeaving, startCommand, UNTIL_TOLD } from "../support/cli/leaving-chat.ts"
import { isAlive } from "../support/processes.ts"

test("G2. Quitting one chat stops nothing that another chat asked for", async () => {
  const { startPipe, readPid, finish } = await openLeaving()
  const quitting = startPipe(["--on-exit", "stop"])
  const own = await startCommand(quitting, "echo $$ > own.pid; exec sleep 300")
  const ownPid = await readPid("own.pid")
  // It runs nothing itself, so the other chat runs what it asks for.
  const staying = startPipe(["--concurrency", "0"])
  const asked = await startCommand(staying, UNTIL_TOLD)
  const askedPid = await readPid()
  quitting.type("/quit")
  await quitting.shows(new RegExp(`Cancelling 1 task\\.[^]*\\[${own}\\]`))
  await quitting.shows(
    new RegExp(`1 task goes on without this program, with a keeper \\(pid \\d+\\):\\s+\\[${asked}\\]`),
  )
  expect(await quitting.exited).toBe(0)
  expect([isAlive(ownPid), isAlive(askedPid)]).toEqual([false, true])
  const finished = finish()
  await staying.shows(new RegExp(`\\[${asked}\\] completed`))
  staying.endInput()
  expect(await staying.exited).toBe(0)
  await finished
})
