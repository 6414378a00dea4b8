import { expect, test } from "vitest"
import { startInTerminal, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

/** A short lease: both programs look around often, and one that stands still is soon replaced. */
const environment = { MEANWHILE_BACKGROUND_LEASE_SECONDS: "3" }

function start(engine: string, ...words: readonly string[]) {
  return startPiped({ directory: createFolder(), arguments: [...words, "--engine", engine], environment })
}

test("a chat that stood still says in a line that another worker goes on with the answer, and shows it", async () => {
  const engine = await createSharedStore()
  const worker = start(engine, "worker", "--verbose")
  await worker.shows(/takes tasks from/)
  const chat = start(engine)
  chat.type("count to 12 slowly")
  await chat.shows(/1 2 3/)
  chat.kill("SIGSTOP")
  await worker.shows(/run taken .* kind=turn/)
  chat.kill("SIGCONT")
  await chat.shows(
    /\(this program was silent for longer than its lease: another worker goes on with the answer, .*\)\n/,
  )
  await chat.shows(/^1 2 3 4 5 6 7 8 9 10 11 12$/m)
  chat.type("say afterwards")
  await chat.shows(/^afterwards$/m)
  chat.endInput()
  expect(await chat.exited).toBe(0)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("a run waits for the answer of the worker that has taken its turn over, and prints it", async () => {
  const engine = await createSharedStore()
  const worker = start(engine, "worker", "--verbose")
  await worker.shows(/takes tasks from/)
  const run = start(engine, "run", "count to 12 slowly")
  await run.shows(/1 2 3/)
  run.kill("SIGSTOP")
  await worker.shows(/run taken .* kind=turn/)
  run.kill("SIGCONT")
  await run.shows(/another worker goes on with the answer/)
  await run.shows(/^1 2 3 4 5 6 7 8 9 10 11 12$/m)
  expect(await run.exited).toBe(0)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("a message waits while another worker goes on with a chat's answer, and is heard after it", async () => {
  const engine = await createSharedStore()
  const worker = start(engine, "worker", "--verbose")
  await worker.shows(/takes tasks from/)
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", engine], environment })
  await chat.shows(/you talk with/)
  chat.type("count to 24 slowly")
  await chat.shows(/1 2 3/)
  process.kill(chat.pid, "SIGSTOP")
  await worker.shows(/run taken .* kind=turn/)
  process.kill(chat.pid, "SIGCONT")
  await chat.shows(/another\s+worker\s+goes\s+on\s+with\s+the\s+answer/)
  chat.type("say afterwards")
  chat.type("say at last")
  await chat.shows(/\(queued: /)
  await chat.shows(/[\r\n]1 2 3 [\d ]+ 23 24\r\n[^]*[\r\n]afterwards\r\n[^]*[\r\n]at last\r\n/)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  expect(chat.shown()).not.toContain("is busy")
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("a worker that stood still says for how long, and what follows from it, in one line", async () => {
  const engine = await createSharedStore()
  const worker = start(engine, "worker", "--verbose")
  await worker.shows(/takes tasks from/)
  const chat = start(engine, "--concurrency", "0")
  chat.type("start an agent to count to 40 slowly")
  await worker.shows(/run taken .* kind=agent/)
  const other = start(engine, "worker", "--verbose")
  await other.shows(/takes tasks from/)
  worker.kill("SIGSTOP")
  await other.shows(/run taken .* kind=agent/)
  worker.kill("SIGCONT")
  await worker.shows(
    /this worker was silent for [\d.]+ s, longer than its lease of 3 s: others have taken over what it ran, and it goes on with new work worker=\w{8}\n/,
  )
  for (const one of [worker, other, chat]) one.kill("SIGTERM")
  await Promise.all([worker.exited, other.exited, chat.exited])
})
