import { expect, test } from "vitest"
import type { ErrorCode } from "../../base/error.ts"
import type { Engine } from "../../task/engine.ts"

/** One empty store, as an engine's own test file provides it. */
export interface EngineSubject {
  readonly engine: Engine
  /** Closes the engine and opens the same store again. */
  reopen(): Promise<Engine>
  /** Opens a second engine on the same store, as another process would. */
  another(): Promise<Engine>
  /** Closes whatever is open and removes the store. */
  dispose(): Promise<void>
}

export type EngineFactory = () => Promise<EngineSubject>

/** A store that `open` opens, and that `remove` removes once all its engines are closed. */
export async function createSubject(open: () => Promise<Engine>, remove: () => Promise<void>): Promise<EngineSubject> {
  const opened: Engine[] = []
  async function another(): Promise<Engine> {
    const engine = await open()
    opened.push(engine)
    return engine
  }
  const engine = await another()
  return {
    engine,
    another,
    async reopen() {
      await engine.close()
      return another()
    },
    async dispose() {
      await Promise.all(opened.map((one) => one.close()))
      await remove()
    },
  }
}

/** A bound against hanging, wide enough for an engine behind a network and for thousands of model runs. */
const LONGEST_TEST_MS = 600_000

/** Declares a test that is given a store of its own. */
export type EngineTest = (sentence: string, body: (subject: EngineSubject) => Promise<void>) => void

export function createEngineTest(factory: EngineFactory): EngineTest {
  return (sentence, body) =>
    test(sentence, { timeout: LONGEST_TEST_MS }, async () => {
      const subject = await factory()
      try {
        await body(subject)
      } finally {
        await subject.dispose()
      }
    })
}

export async function expectRefusal(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(promise).rejects.toMatchObject({ name: "MeanwhileError", code })
}

/** How long a broken test takes to fail. No test waits for this time to pass. */
const PATIENCE_MS = 30_000
const LOOK_EVERY_MS = 5

/** Waits for what must become true by itself. Engines differ in how long that takes, so nothing here sleeps a fixed time. */
export async function waitUntil<Result>(look: () => Promise<Result | undefined | false>): Promise<Result> {
  const startedAt = performance.now()
  for (;;) {
    const result = await look()
    if (result !== undefined && result !== false) return result
    if (performance.now() - startedAt > PATIENCE_MS)
      throw new Error(`It did not happen within ${PATIENCE_MS} ms: ${look.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
