import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/app.ts"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { openLifeEngine } from "./life-engine.ts"
import { type CrashPoint, createLife, createMortalEngine, type Life } from "./mortal-engine.ts"

/** Longer than any lease, so that the life before is seen to be dead. */
const BETWEEN_LIVES_MS = 600_000

export interface LifeParts {
  readonly life: Life
  readonly clock: ManualClock
  /** Also answers after the life is over. The caller of `openLife` closes it. */
  readonly engine: Engine
}

export interface OpenedLife extends LifeParts {
  /** Never settles if the life ends while the runtime is opened. */
  readonly runtime: Promise<Runtime>
}

/** Opens one of several successive runtimes on a folder's store. It dies at the crash point. */
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

/** Runs the work, and returns the crash points before and after each of its commits and effects. */
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
