import { tmpdir } from "node:os"
import { expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../base/error.ts"
import { createManualClock } from "../base/manual-clock.ts"
import { createEmbeddedEngine } from "../engine/embedded/engine.ts"
import { IN_MEMORY } from "../engine/embedded/open.ts"
import { DEFAULT_WORKSPACE } from "../task/id.ts"
import { createKeeper } from "./keeper.ts"

/** Keepers of one store that holds no work. `refusals` are given to the next commits. */
async function openKeepers() {
  const clock = createManualClock()
  const engine = await createEmbeddedEngine({ path: IN_MEMORY, clock })
  onTestFinished(() => engine.close())
  const refusals: Error[] = []
  const commit: typeof engine.store.commit = async (operations, options) => {
    const refusal = refusals.shift()
    if (refusal) throw refusal
    return engine.store.commit(operations, options)
  }
  const store = { ...engine.store, commit }
  const tasks = { list: async () => ({ items: [] }), workers: async () => [] }
  const scope = { workspace: DEFAULT_WORKSPACE, store, tasks, clock, dataDirectory: tmpdir() }
  const open = () => createKeeper(scope, { byQuestion: async () => new Map() })
  return { open, refusals, clock }
}

/** Lets time pass until the promise is settled. */
async function pass<Result>(clock: { advance(ms: number): void }, work: Promise<Result>): Promise<Result> {
  let isOver = false
  const settle = (): void => void (isOver = true)
  work.then(settle, settle)
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(100)
  }
  return work
}

const NEVER = new AbortController().signal

test.each(["store_unavailable", "store_read_only", "disk_full"] as const)(
  "a keeper whose last look is refused as %s looks again",
  async (code) => {
    const { open, refusals, clock } = await openKeepers()
    const keeper = open()
    await keeper.takePost(() => {})
    refusals.push(new MeanwhileError(code, "Not now."), new MeanwhileError(code, "Not now."))
    await pass(clock, keeper.whenIdle(NEVER))
    expect(refusals).toEqual([])
  },
)

test("a keeper that stands still at its end is waited for no longer than 30 seconds, and named", async () => {
  const { open, clock } = await openKeepers()
  const [standing, next] = [open(), open()]
  await standing.takePost(() => {})
  await pass(clock, standing.whenIdle(NEVER))
  const startedMs = clock.monotonic()
  const told: string[] = []
  expect(
    await pass(
      clock,
      next.takePost((line) => told.push(line)),
    ),
  ).toBe(true)
  expect(clock.monotonic() - startedMs).toBeLessThan(31_000)
  expect(told).toEqual([expect.stringContaining(`(pid ${process.pid}) has been ending for 30 s and stands still.`)])
  await pass(clock, next.whenIdle(NEVER))
})
