import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

test("a chat that runs no tasks leaves an agent whose worker died, and its turn, to the next worker", async () => {
  const url = await createSharedStore()
  const start = (...words: readonly string[]) =>
    startPiped({ directory: createFolder(), arguments: [...words, "--engine", url] })
  const listed = async () => {
    const words = ["tasks", "list", "--all", "--engine", url]
    return (await runToEnd({ directory: createFolder(), arguments: words })).stdout
  }
  const first = start("worker", "--verbose")
  await first.shows(/takes tasks from/)
  const chat = start("--concurrency", "0")
  chat.type("start an agent to count to 80 slowly")
  await first.shows(/run taken .* kind=agent/)
  const [, turn = ""] = await eventually("its turn runs", async () =>
    /subagent.*\n(\w{8}) +running .* count to 80 slowly$/m.exec(await listed()),
  )
  first.kill("SIGKILL")
  await eventually("both are in the queue", async () => /^\w{8} +queued .*subagent.*\n.* queued /m.test(await listed()))
  const second = start("worker", "--verbose")
  await second.shows(new RegExp(`run taken task=${turn} `))
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  second.kill("SIGTERM")
  expect(await second.exited).toBe(0)
})
