import { join } from "node:path"
import pg from "pg"
import { describe, expect, onTestFinished, test } from "vitest"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { createPostgresEngine } from "../../src/engine/postgres/engine.ts"
import type { Engine } from "../../src/task/engine.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"
import { isLong } from "../support/chaos/seed.ts"
import { toWrongClock, WRONG_CLOCKS } from "../support/wrong-clock.ts"

const HOUR_MS = 3_600_000
const SOON_MS = 3_000
const PATIENCE_MS = 90_000
/** The form in which lists show a recent time. */
const SECONDS = String.raw` *(?:\d+ ms|\d+\.\d s)`

/** A program with a right clock, which runs nothing. */
async function openAsker(url: string, options: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const folder = createFolder()
  const shell = createShellPlugin({ workingDirectory: folder, environment: { PATH: process.env["PATH"] ?? "" } })
  const dataDirectory = join(folder, "data")
  return createRuntime({ engine: url, environment: {}, dataDirectory, plugins: [shell], takesWork: false, ...options })
}

/** An engine to read from, which does nothing by itself. */
async function openEngine(url: string): Promise<Engine> {
  const engine = await createPostgresEngine({ url })
  onTestFinished(() => engine.close())
  return engine
}

async function startWorker(url: string, byMs: number) {
  const worker = startPiped({
    directory: createFolder(),
    arguments: ["worker", "--verbose", "--engine", url],
    environment: toWrongClock(byMs),
  })
  await worker.shows(/takes tasks from/)
  return worker
}

const ask = (expiresInMs: number): Partial<RuntimeOptions> => ({
  permissions: {
    decide: () => ({ allowed: "ask", question: { kind: "approval", text: "May it?" }, expiresInMs }) as const,
  },
})

async function askForApproval(url: string, expiresInMs: number): Promise<TaskId> {
  await using asker = await openAsker(url, ask(expiresInMs))
  const answer = await asker.tasks.execute({ tool: "run_command", input: { command: "true" } }).answer
  if (answer.outcome !== "promoted") throw new Error(`It was not asked for: ${answer.outcome}`)
  return answer.task.id
}

describe.each(WRONG_CLOCKS)("beside a worker whose clock is $wrong", ({ byMs }) => {
  test("an approval expires at its time, and no other does", async () => {
    const url = await createSharedStore()
    const { store } = await openEngine(url)
    const long = await askForApproval(url, HOUR_MS)
    const short = await askForApproval(url, SOON_MS)
    const [wait] = await store.waits({ taskId: short })
    await startWorker(url, byMs)
    const ended = await eventually(
      "the short one is over",
      async () => {
        const task = await store.task(short)
        return task && "endedAt" in task && task
      },
      PATIENCE_MS,
    )
    expect(ended.endedAt).toBeGreaterThanOrEqual(wait?.expiresAt ?? Number.POSITIVE_INFINITY)
    // The look that ended the short one looked at all.
    expect((await store.task(long))?.status).toBe("waiting")
  })

  test("delays, time limits and durations are right", async () => {
    const url = await createSharedStore()
    await using asker = await openAsker(url)
    await startWorker(url, byMs)
    const command = (line: string, more: object) =>
      asker.tasks.start({ tool: "run_command", input: { command: line }, ...more })
    const delayed = await command("sleep 0.2", { delayMs: SOON_MS, timeoutMs: HOUR_MS })
    const limited = await command("sleep 1000", { timeoutMs: 1_000 })
    const [late, over] = await Promise.all(
      [delayed, limited].map(({ id }) => asker.tasks.result(id, { waitMs: PATIENCE_MS })),
    )
    expect(late?.task.status).toBe("completed")
    expect((late?.task.startedAt ?? 0) - delayed.createdAt).toBeGreaterThanOrEqual(SOON_MS)
    expect(late?.task.ranMs).toBeLessThan(PATIENCE_MS)
    expect(over?.task.status).toBe("timed_out")
    expect(over?.task.ranMs).toBeGreaterThanOrEqual(1_000)
    expect(over?.task.ranMs).toBeLessThan(PATIENCE_MS)
  })
})

/** Makes two used tasks. By the store, the result of one was used an hour and a half ago. */
async function useTwo(url: string, store: Engine["store"]) {
  await using asker = await openAsker(url, { takesWork: true })
  const use = async (): Promise<TaskId> => {
    const { id } = await asker.tasks.start({ tool: "run_command", input: { command: "echo kept" } })
    await asker.tasks.result(id, { consume: true, waitMs: PATIENCE_MS })
    return id
  }
  const [old, fresh] = [await use(), await use()]
  const client = new pg.Client(url)
  await client.connect()
  await client.query("UPDATE meanwhile.tasks SET used_at = used_at - $1 WHERE id = $2", [1.5 * HOUR_MS, old])
  await client.end()
  const isStripped = async (id: TaskId) => typeof (await store.task(id))?.strippedAt === "number"
  return { oldIsStripped: () => isStripped(old), freshIsStripped: () => isStripped(fresh) }
}

// Each worker strips once a minute: the short form, within one process, is in `test/runner/store-time.test.ts`.
test.runIf(isLong)(
  "workers strip results that were used long enough ago, and no others, whatever their clocks say",
  async () => {
    const looked = WRONG_CLOCKS.map(async ({ wrong, byMs }) => {
      const url = await createSharedStore()
      const { oldIsStripped, freshIsStripped } = await useTwo(url, (await openEngine(url)).store)
      await startWorker(url, byMs)
      await eventually(`a worker ${wrong} takes away the old one`, oldIsStripped, 2 * PATIENCE_MS)
      return freshIsStripped()
    })
    expect(await Promise.all(looked)).toEqual([false, false])
  },
)

describe.each(WRONG_CLOCKS)("on a machine whose clock is $wrong", ({ byMs }) => {
  test("lists say how long ago things happened, and how long is left", async () => {
    const url = await createSharedStore()
    const wrong = { directory: createFolder(), environment: toWrongClock(byMs) }
    const look = async (...words: readonly string[]) =>
      (await runToEnd({ ...wrong, arguments: [...words, "--engine", url] })).stdout
    await using asker = await openAsker(url)
    const { id: queued } = await asker.tasks.start({ tool: "run_command", input: { command: "sleep 1000" } })
    // Shown as 59 min for the next 45 s. A whole hour would be shown as an hour on a quick machine.
    const asked = await askForApproval(url, HOUR_MS - 15_000)
    expect(await look("tasks")).toMatch(new RegExp(`^${queued.slice(0, 8)} {2}queued {7}${SECONDS} `, "m"))
    expect(await look("tasks", "inbox")).toMatch(/expires in 59 min/)
    expect(await look("tasks", "show", asked)).toMatch(new RegExp(`^waits {5}for your answer, for ${SECONDS}$`, "m"))

    const right = startPiped({ directory: createFolder(), arguments: ["worker", "--verbose", "--engine", url] })
    await right.shows(new RegExp(`run taken task=${queued.slice(0, 8)}`))
    expect(await look("tasks")).toMatch(new RegExp(`^${queued.slice(0, 8)} {2}running {6}${SECONDS} `, "m"))
    expect(await look("workers")).toMatch(new RegExp(` ${right.pid} +${SECONDS} `))
  })

  test("a chat's new work is stored under the right time, and its earlier messages are shown again", async () => {
    const url = await createSharedStore()
    const { store } = await openEngine(url)
    const environment = { ...toWrongClock(byMs), MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "1" }
    const settings = { directory: createFolder(), environment }
    const chat = startInTerminal({ ...settings, arguments: ["--engine", url] })
    await chat.shows(/you talk with/)
    chat.type("say I was here")
    await chat.shows(/^I was here/m)
    chat.type("/run sleep 1000")
    const id = (await chat.shows(/\[[0-9a-f]{8}\] still runs after [\d.]+ m?s/)).slice(1, 9)
    const [task] = (await store.tasks({ kinds: ["tool"] }, { limit: 1 })).items
    expect(task?.id).toContain(id)
    const ranMs = (task?.createdAt ?? 0) - (task?.startedAt ?? 0)
    // While the command runs, the server's time is estimated anew.
    expect(ranMs).toBeGreaterThan(900)
    expect(ranMs).toBeLessThan(PATIENCE_MS)
    chat.type("/quit")
    await chat.exited
    const again = startInTerminal({ ...settings, arguments: ["--engine", url, "--resume"] })
    await again.shows(/Going on with session[\s\S]*I was here/)
    again.type("/quit")
    expect(await again.exited).toBe(0)
  })
})
