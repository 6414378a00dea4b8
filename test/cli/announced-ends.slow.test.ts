import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

const HELD = "until test -e go; do sleep 0.05; done"

/** A store that a team shares, with a worker that runs the tasks that chats leave. */
async function openStore() {
  const url = await createSharedStore()
  const start = (directory: string, ...words: readonly string[]) =>
    startPiped({ directory, arguments: [...words, "--engine", url] })
  const worker = start(createFolder(), "worker")
  await worker.shows(/takes tasks from/)
  return {
    start,
    cancel: (id: string, directory: string) =>
      runToEnd({ directory, arguments: ["tasks", "cancel", id, "--engine", url] }),
    /** Lets the command that waits in the folder end. */
    async finish(id: string, directory: string): Promise<void> {
      writeFileSync(join(directory, "go"), "")
      const words = ["tasks", "list", "--all", "--engine", url]
      await eventually("it has ended", async () => {
        const { stdout } = await runToEnd({ directory: createFolder(), arguments: words })
        return new RegExp(`^${id} +completed`, "m").test(stdout)
      })
    },
    /** Opens a chat in the folder and leaves it; returns how often it announces the end of the task. */
    async announcements(id: string, directory: string, ...words: readonly string[]): Promise<number> {
      const chat = start(directory, "--concurrency", "0", ...words)
      chat.endInput()
      expect(await chat.exited).toBe(0)
      return chat.shown().match(new RegExp(`\\[${id}\\] (completed in|cancelled after)`, "g"))?.length ?? 0
    },
  }
}

test("a task that ended while its conversation was closed is announced once, from whichever folder it is opened", async () => {
  const { start, finish, announcements } = await openStore()
  const directory = createFolder()
  const chat = start(directory, "--concurrency", "0")
  chat.type(`start \`${HELD}\` in the background`)
  const id = (await chat.shows(/as task [0-9a-f]{8}/)).slice(-8)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  await finish(id, directory)
  const told: number[] = []
  for (const folder of [createFolder(), createFolder(), directory])
    told.push(await announcements(id, folder, "--resume"))
  expect(told).toEqual([1, 0, 0])
})

test("the end of a task that /start has left to workers is announced once, at the next start in its folder", async () => {
  const { start, finish, announcements } = await openStore()
  const directory = createFolder()
  const chat = start(directory, "--concurrency", "0")
  chat.type(`/start ${HELD}`)
  const id = (await chat.shows(/\[[0-9a-f]{8}\] is queued.*its end will be announced/)).slice(1, 9)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  await finish(id, directory)
  const told: number[] = []
  for (const folder of [createFolder(), directory, directory]) told.push(await announcements(id, folder))
  expect(told).toEqual([0, 1, 0])
})

test("a chat that goes on with another conversation announces what ended there, and what ends from then on", async () => {
  const { start, finish } = await openStore()
  const [first, second] = [createFolder(), createFolder()]
  const chat = start(createFolder(), "--concurrency", "0")
  const begin = async (directory: string): Promise<string> => {
    chat.type(`start \`cd ${directory} && ${HELD}\` in the background`)
    return (await chat.shows(/as task [0-9a-f]{8}/)).slice(-8)
  }
  const [ended, live] = [await begin(first), await begin(second)]
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  await finish(ended, first)
  const other = start(createFolder(), "--concurrency", "0")
  other.type("/resume 1")
  await other.shows(new RegExp(`Meanwhile: \\[${ended}\\] completed in`))
  await finish(live, second)
  await other.shows(new RegExp(`^\\[${live}\\] completed in`, "m"))
  other.endInput()
  expect(await other.exited).toBe(0)
})

test.each([
  ["by the person who began it is not announced", "own", 0],
  ["by somebody else is announced", "another", 1],
])("in a store that others share, a cancel from the shell %s", async (_, folder, announced) => {
  const { start, cancel, announcements } = await openStore()
  const directory = createFolder()
  const chat = start(directory, "--concurrency", "0")
  chat.type("start `sleep 1000` in the background")
  const id = (await chat.shows(/as task [0-9a-f]{8}/)).slice(-8)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  const cancelled = await cancel(id, folder === "own" ? directory : createFolder())
  expect(cancelled.stdout).toContain(`[${id}] cancelled after`)
  expect(await announcements(id, directory, "--resume")).toBe(announced)
})
