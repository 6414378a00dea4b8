import { onTestFinished } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import type { PersonPort } from "../../src/plugin/person-port.ts"
import type { ConversationPorts } from "../../src/plugin/context.ts"
import type { Runner } from "../../src/runner/runner.ts"
import type { TaskStore } from "../../src/task/store.ts"
import type { WaitRecord } from "../../src/task/wait.ts"
import { openLifeEngine } from "./chaos/life-engine.ts"
import { createLife, createMortalEngine, type Life } from "./chaos/mortal-engine.ts"
import { eventually } from "./eventually.ts"
import { openRunner } from "./open-runner.ts"

export interface RunnerLife {
  readonly life: Life
  readonly runner: Runner
  /** Also answers after the life is over. */
  readonly store: TaskStore
  readonly clock: ManualClock
  /** Resolves with the open questions, once there are `count`. */
  questions(count: number): Promise<readonly WaitRecord[]>
}

type Options = Parameters<typeof openRunner>[1]

/**
 * One life of a runner on the folder's store, whose runs put their questions into the inbox. End the life before the next one
 * begins; the last one is closed after the test.
 */
export async function beginRunnerLife(
  folder: string,
  options: Omit<Options, "engine" | "clock">,
  number = 1,
): Promise<RunnerLife> {
  const life = createLife(number)
  const clock = createManualClock(1_700_000_000_000 + number * 1_000_000)
  const engine = await openLifeEngine(folder, number, clock)
  onTestFinished(() => engine.close())
  let created!: Runner
  const runner = await openRunner(folder, {
    ...options,
    conversations: {
      portsOf: (run) => {
        const person: PersonPort = { ask: (question, signal = run.signal) => created.askPerson(run, question, signal) }
        return { person } as ConversationPorts
      },
      ...options.conversations,
    },
    engine: createMortalEngine(engine, life),
    clock,
    isOver: () => life.isOver,
    async onCreated(it) {
      created = it
      await options.onCreated?.(it)
    },
  })
  const { store } = engine
  return {
    life,
    runner,
    store,
    clock,
    questions: (count) =>
      eventually(`${count} questions are open`, async () => {
        const open = await store.waits({ isOpen: true })
        return open.length === count && open
      }),
  }
}
