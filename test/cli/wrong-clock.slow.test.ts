import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { createPostgresEngine } from "../../src/engine/postgres/engine.ts"
import type { Engine } from "../../src/task/engine.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"
import { toWrongClock, WRONG_CLOCKS } from "../support/wrong-clock.ts"

const HOUR_MS = 3_600_000
const SOON_MS = 3_000
const PATIENCE_MS = 90_000

/** Somebody whose clock is right, and who runs nothing. */
async function openAsker(url: string, options: Partial<RuntimeOptions> = {}): Promise<Runtime> {
  const folder = createFolder()
  const shell = createShellPlugin({ workingDirectory: folder, environment: { PATH: process.env["PATH"] ?? "" } })
  const dataDirectory = join(folder, "data")
  return createRuntime({ engine: url, environment: {}, dataDirectory, plugins: [shell], takesWork: false, ...options })
}

/** Only reads: it does nothing by itself. */
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
  test("an approval is over when its time is, and no other", async () => {
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
    // Whoever looks at one looks at all.
    expect((await store.task(long))?.status).toBe("waiting")
  })

  test("delays, time limits and durations are what they are", async () => {
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
