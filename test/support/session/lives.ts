import { onTestFinished } from "vitest"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/app.ts"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import type { Script } from "../../../src/builtin/scripted/script.ts"
import { createScriptedModel, type ScriptedModel } from "../../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { Tool } from "../../../src/plugin/tool.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Engine } from "../../../src/task/engine.ts"
import type { Operation } from "../../../src/task/operation.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { openLifeEngine } from "../chaos/life-engine.ts"
import { createLife, createMortalEngine, type Life } from "../chaos/mortal-engine.ts"
import { interceptCommits } from "../intercept-commits.ts"

const LEASE_SECONDS = 60
export const LIFE_LEASE_MS = LEASE_SECONDS * 1_000

export interface LivingRuntime {
  readonly life: Life
  readonly clock: ManualClock
  readonly model: ScriptedModel
  readonly runtime: Runtime
  /** Also answers after the life is over. */
  readonly store: TaskStore
  /** Resolves when the model has been asked `times` times. */
  isAsked(times: number): Promise<void>
}

export interface LifeOptions
  extends Pick<
    RuntimeOptions,
    "plugins" | "reports" | "onEvent" | "takesWork" | "permissions" | "person" | "background"
  > {
  readonly script: Script
  readonly tools: readonly Tool[]
  /** The number of the life that this one takes for the living one. Default: its own. */
  readonly newest?: number
  /**
   * The life ends before or after the first commit for which `isHere` is true, and not before its runtime is open: work that
   * was left behind goes on while the runtime is being opened, and such a commit waits for that.
   */
  readonly ending?: {
    readonly when: "before" | "after"
    readonly isHere: (operations: readonly Operation[]) => boolean
  }
}

/** One life of a process on the folder's data. End the life before the next one begins; the last one is closed after the test. */
export async function beginLife(
  folder: string,
  number: number,
  { script, tools, plugins = [], newest = number, ending, background, ...options }: LifeOptions,
): Promise<LivingRuntime> {
  const life = createLife(number)
  const clock = createManualClock(1_700_000_000_000 + number * 10 * LEASE_SECONDS * 1_000)
  const engine = await openLifeEngine(folder, number, clock, () => newest)
  onTestFinished(() => engine.close())
  const model = createScriptedModel(script)
  const opened = Promise.withResolvers<void>()
  if (ending) endAtCommit(engine, life, ending, opened.promise)
  const runtime = await createRuntime({
    permissions: allowAll,
    ...options,
    clock,
    model,
    dataDirectory: folder,
    environment: {},
    engine: createMortalEngine(engine, life),
    plugins: [definePlugin({ kind: "tool", name: "test", tools }), ...plugins],
    background: { ...background, leaseSeconds: LEASE_SECONDS },
  })
  onTestFinished(async () => {
    if (!life.isOver) await runtime.close()
  })
  opened.resolve()
  return {
    life,
    clock,
    model,
    runtime,
    store: engine.store,
    async isAsked(times) {
      while (model.callCount < times) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

function endAtCommit(
  engine: Engine,
  life: Life,
  { when, isHere }: NonNullable<LifeOptions["ending"]>,
  opened: Promise<void>,
): void {
  interceptCommits({ engine }, async (operations, commit) => {
    if (life.isOver || !isHere(operations)) return commit(operations)
    if (when === "after") await commit(operations)
    await opened
    life.end()
    return new Promise(() => {})
  })
}
