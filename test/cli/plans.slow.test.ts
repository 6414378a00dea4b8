import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

test("a turn whose chat is killed goes on with its plan in a worker elsewhere, and a third program shows it", async () => {
  const engine = await createSharedStore()
  const here = createFolder()
  const chat = startPiped({ directory: here, arguments: ["--engine", engine] })
  chat.type("make a plan release: build, test and publish, then count to 30 slowly, then mark step 2 done")
  await chat.shows(/\b1 2 3/)
  chat.kill("SIGKILL")
  await chat.exited
  expect(existsSync(join(here, ".meanwhile", "plans"))).toBe(false)

  const worker = startPiped({ directory: createFolder(), arguments: ["worker", "--verbose", "--engine", engine] })
  await worker.shows(/run taken .*kind=turn/)
  await worker.shows(/run left .*kind=turn.* status=completed/)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)

  const third = startPiped({ directory: createFolder(), arguments: ["--resume", "--engine", engine] })
  third.type("/plan")
  await third.shows(/release: 1 of 3 steps ended\n.*○ +1\. build\n.*✔ +2\. test\n.*○ +3\. publish/)
  third.endInput()
  expect(await third.exited).toBe(0)
})
