import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/app.ts"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { openLifeEngine } from "./life-engine.ts"
import { type CrashPoint, createLife, createMortalEngine, type Life } from "./mortal-engine.ts"

/** Longer than any lease: who came before is dead, and it is seen. */
const BETWEEN_LIVES_MS = 600_000

export interface LifeParts {
  readonly life: Life
  readonly clock: ManualClock
  /** Answers when the life is over, too. Whoever opened the life closes it. */
  readonly engine: Engine
}

export interface OpenedLife extends LifeParts {
  /** Never, when it dies while it is opened. */
  readonly runtime: Promise<Runtime>
}

/** One of several runtimes on the store of a folder, one after the other. It dies at the crash point. */
export async function openLife(
  directory: string,
  number: number,
  crash: CrashPoint | undefined,
  toOptions: (parts: LifeParts) => RuntimeOptions,
): Promise<OpenedLife> {
  const life = createLife(number, crash)
  const clock = createManualClock(1_700_000_000_000 + number * BETWEEN_LIVES_MS)
  const engine = await openLifeEngine(directory, number, clock)
  const runtime = createRuntime({
    permissions: allowAll,
    environment: {},
    ...toOptions({ life, clock, engine }),
    clock,
    dataDirectory: directory,
    engine: createMortalEngine(engine, life),
  })
  return { life, clock, engine, runtime }
}

/** Every commit and effect of the life that the work leads to, before it and after it. */
export async function findCrashPoints(life: Life, work: () => Promise<void>): Promise<readonly CrashPoint[]> {
  const first = { commit: life.commits, effect: life.effects }
  await work()
  const last = { commit: life.commits, effect: life.effects }
  return (["before", "after"] as const).flatMap((when) =>
    (["commit", "effect"] as const).flatMap((at) =>
      Array.from({ length: last[at] - first[at] }, (_, index) => ({ at, number: first[at] + index + 1, when })),
    ),
  )
}
