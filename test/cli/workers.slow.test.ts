import { realpathSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { ASKING, runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

const MOST = 6

test("a chat leaves its tasks to a worker, and every program shows who runs them and what they wait for", async () => {
  const engine = await createSharedStore()
  const look = async (...words: readonly string[]) =>
    (await runToEnd({ directory: createFolder(), arguments: [...words, "--engine", engine] })).stdout
  expect(await look("workers")).toBe(
    `Nobody takes work from the queue. Start a worker: meanwhile --engine ${engine} worker. A chat takes work too: meanwhile --engine ${engine}\n`,
  )
  const chat = startPiped({ directory: createFolder(), arguments: ["--engine", engine, "--concurrency", "0"] })
  chat.type("/start sleep 1000")
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is queued in the background.*: no worker takes tool tasks/)).slice(1, 9)
  expect(await look("tasks")).toMatch(
    new RegExp(`^${id} {2}queued .* sleep 1000 · no worker takes tool tasks\\n1 queued`),
  )
  expect(await look("tasks", "show", id)).toMatch(/^waits {5}for a worker: no worker takes tool tasks$/m)

  const worker = startPiped({
    directory: createFolder(),
    arguments: ["worker", "--verbose", "--engine", engine, "--concurrency", String(MOST)],
  })
  await worker.shows(new RegExp(`run taken task=${id} `))
  expect(await look("tasks", "show", id)).toMatch(new RegExp(`^runs on {3}here, pid ${worker.pid}$`, "m"))
  for (let count = 1; count < MOST; count++) chat.type("/start sleep 1000")
  await eventually("one plugin fills the worker", async () => {
    const counts = JSON.parse(await look("tasks", "count", "--json")) as { byStatus: { running: number } }
    return counts.byStatus.running === MOST
  })
  const [row, ...others] = (await look("workers", "--json")).trim().split("\n")
  expect(others).toEqual([])
  expect(JSON.parse(row ?? "")).toMatchObject({ pid: worker.pid, where: "machine", running: MOST })
  expect(await look("workers")).toMatch(new RegExp(`\\(here\\) +${worker.pid} .* ${MOST} of ${MOST} .*shell`))

  chat.type("/quit")
  await chat.shows(
    new RegExp(`${MOST} tasks go on with other programs:[^]*To see them: meanwhile --engine ${engine} tasks`),
  )
  expect(await chat.exited).toBe(0)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
  expect(await look("tasks", "count")).toBe(`${MOST} cancelled\n`)
  const reason = `by shutdown: the worker on ${hostname()}, pid ${worker.pid}, was shut down`
  expect(await look("tasks", "show", id)).toContain(reason)
})

test("a chat that runs no tasks says at the end that its task waits for a worker, and how to start one", async () => {
  const engine = await createSharedStore()
  const chat = startPiped({ directory: createFolder(), arguments: ["--engine", engine, "--concurrency", "0"] })
  chat.type("/start sleep 1000")
  await chat.shows(/\] is queued in the background/)
  chat.type("/quit")
  await chat.shows(
    /1 task waits for a worker or a chat that runs tasks\. To start a worker: meanwhile --engine \S+ worker\n/,
  )
  expect(await chat.exited).toBe(0)
  expect(chat.shown()).not.toContain("without this program")
})

test("a chat on a store that others use announces its own tasks, and not theirs", async () => {
  const engine = await createSharedStore()
  const [mine, theirs] = [1, 2].map(() => startPiped({ directory: createFolder(), arguments: ["--engine", engine] }))
  mine?.type("say I am here")
  await mine?.shows(/^I am here/m)
  theirs?.type("/start echo theirs")
  await theirs?.shows(/\] completed in .*\n.*theirs/)
  mine?.type("/start echo mine")
  await mine?.shows(/\] completed in .*\n.*mine/)
  expect(mine?.shown()).not.toContain("theirs")
  for (const chat of [mine, theirs]) {
    chat?.type("/quit")
    expect(await chat?.exited).toBe(0)
  }
  const next = startPiped({ directory: createFolder(), arguments: ["--engine", engine] })
  next.type("/quit")
  expect(await next.exited).toBe(0)
  expect(next.shown()).not.toMatch(/mine|theirs/)
})

test("a chat shows the questions of its agent that a worker runs", async () => {
  const engine = await createSharedStore()
  const directory = createFolder()
  const words = ["worker", "--verbose", "--engine", engine]
  const worker = startPiped({ directory, arguments: words, environment: ASKING })
  await worker.shows(/takes tasks from/)
  const chat = startPiped({ directory: createFolder(), arguments: ["--engine", engine, "--concurrency", "0"] })
  chat.type("start an agent to run `touch made-by-agent`")
  await chat.shows(new RegExp(`^  in ${realpathSync(directory)}$`, "m"))
  const question = await chat.shows(/\/answer [0-9a-f]{8}/)
  chat.type(`${question} yes`)
  await chat.shows(/completed in/)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("`tasks` says that it did not read an untrusted configuration, and reads it once it is trusted", async () => {
  const engine = await createSharedStore()
  const directory = createFolder()
  writeFileSync(join(directory, "meanwhile.config.json"), JSON.stringify({ engine }))
  const run = await runToEnd({ directory: createFolder(), arguments: ["run", "say it", "--engine", engine] })
  expect(run.exitCode).toBe(0)
  const look = (...words: readonly string[]) => runToEnd({ directory, arguments: ["tasks", "list", "--all", ...words] })
  const untrusted = await look()
  expect(untrusted.stdout).toMatch(/^No tasks yet/)
  expect(untrusted.stderr).toBe(
    "meanwhile.config.json may name another store, and was not read: you have not trusted it. `meanwhile trust` or --trust changes that.\n",
  )
  expect((await look("--trust")).stdout).toMatch(/completed/)
  const trusted = await look()
  expect(trusted.stdout).toMatch(/completed/)
  // On a busy machine a look also says that it waits for the store.
  expect(trusted.stderr).not.toContain("trust")
})

test("a run whose tasks no worker takes says so once, and goes on waiting", async () => {
  const engine = await createSharedStore()
  const words = ["run", "start an agent to run `echo done`", "--engine", engine, "--concurrency", "0"]
  const run = startPiped({ directory: createFolder(), arguments: words })
  run.endInput()
  await run.shows(/^\[\w{8}\] is queued and waited for: no worker takes agent tasks \(.*\)$/m)
  const worker = startPiped({ directory: createFolder(), arguments: ["worker", "--engine", engine] })
  await worker.shows(/takes tasks from/)
  run.kill("SIGINT")
  await run.exited
  expect(run.shown().match(/waited for: /g)).toHaveLength(1)
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
})

test("a worker that would take nothing is refused", async () => {
  const refused = await runToEnd({ directory: createFolder(), arguments: ["worker", "--concurrency", "0"] })
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("would take nothing") as string })
})
