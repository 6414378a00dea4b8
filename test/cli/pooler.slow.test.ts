import { expect, test } from "vitest"
import { startPooler } from "../support/postgres/pooler.ts"
import { startDeafProxy } from "../support/postgres/deaf-proxy.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

const POLLS = /LISTEN does not work on this connection .* Polling for changes of other processes every 250 ms instead/g

test("behind a pooler that passes no notifications on, every program says once that it looks for changes", async () => {
  await using pooler = await startDeafProxy(await createSharedStore())
  pooler.mode = "deaf"
  const directory = createFolder()
  const words = ["--engine", pooler.url] as const
  const looks = ["tasks", "workers", "ledger"].map(
    async (command) => [command, await runToEnd({ directory, arguments: [command, ...words] })] as const,
  )
  for (const [command, { exitCode, stdout, stderr }] of await Promise.all(looks)) {
    expect({ command, exitCode, times: stderr.match(POLLS)?.length }).toEqual({ command, exitCode: 0, times: 1 })
    expect(stdout).not.toMatch(POLLS)
  }
  const run = await runToEnd({ directory, arguments: ["run", "say hi", ...words] })
  expect(run).toMatchObject({ exitCode: 0, stdout: "hi\n" })
  expect(run.stderr.match(POLLS)).toHaveLength(1)

  const worker = startPiped({ directory: createFolder(), arguments: ["worker", ...words] })
  const chat = startPiped({ directory, arguments: ["--concurrency", "0", ...words] })
  chat.type("/start echo heard")
  await chat.shows(/\[[0-9a-f]{8}\] completed/)
  chat.endInput()
  expect(await chat.exited).toBe(0)
  expect(chat.shown().match(POLLS)).toHaveLength(1)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
  expect(worker.shown().match(POLLS)).toHaveLength(1)
})

test("a chat and a worker meet behind a pooler that drops settings and hands out sessions by transaction", async () => {
  await using pooler = await startPooler(await createSharedStore(), { handsOutBy: "transaction", settings: "dropped" })
  const words = ["--engine", pooler.url] as const
  const worker = startPiped({ directory: createFolder(), arguments: ["worker", ...words] })
  const chat = startPiped({ directory: createFolder(), arguments: ["--concurrency", "0", ...words] })
  chat.type("/start echo heard")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] completed/)).slice(1, 9)
  chat.type(`/output ${id}`)
  await chat.shows(/heard\n/)
  chat.type("/start sleep 1000")
  const live = (await chat.shows(/\[[0-9a-f]{8}\] is queued/)).slice(1, 9)
  chat.type(`/cancel ${live}`)
  await chat.shows(new RegExp(`\\[${live}\\] cancelled`))
  chat.type("say hello")
  await chat.shows(/hello\n/)
  chat.endInput()
  expect(await chat.exited).toBe(0)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})
