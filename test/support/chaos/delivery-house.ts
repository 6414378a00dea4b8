import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/app.ts"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import { createBackgroundPlugin } from "../../../src/builtin/background/background-plugin.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ConnectedModel } from "../../../src/plugin/model.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Engine } from "../../../src/task/engine.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { findRepeatedShowings } from "./delivery-invariants.ts"
import type { DeliveryPlan } from "./delivery-plan.ts"
import { tellStory } from "./delivery-story.ts"
import { createDeliveryTools, createWorld, type DeliveryWorld } from "./delivery-tools.ts"
import { openLifeEngine } from "./life-engine.ts"
import { createLife, createMortalEngine, type Life, liveThroughEffect } from "./mortal-engine.ts"
import { describeLive } from "./store-invariants.ts"
import { forgetFrom, type ProcessCrash } from "./turn-crash.ts"

export interface OpenDelivery {
  readonly runtime: Runtime
  readonly world: DeliveryWorld
  /** The store without crashes, to look at it. */
  readonly store: TaskStore
}

/** A store that outlives the lives of its program, inside a process that goes on. */
export interface DeliveryHouse {
  /** Results that the model was shown twice, in any life. */
  readonly problems: readonly string[]
  begin(crash?: ProcessCrash): Promise<{ life: Life; opened: Promise<OpenDelivery> }>
  describeLive(): Promise<string>
  remove(): Promise<void>
}

const LIFE_MS = 600_000

/** An empty store that hundreds of rounds copy, instead of each making one. */
export async function createEmptyStore(): Promise<{ readonly path: string; remove(): void }> {
  const directory = createDirectory()
  const engine = await openLifeEngine(directory, 1, createManualClock())
  await engine.close()
  return { path: join(directory, STORE), remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** `store`: the file that the house's own store is a copy of at first. */
export function createDeliveryHouse(plan: DeliveryPlan, store: string): DeliveryHouse {
  const directory = createDirectory()
  copyFileSync(store, join(directory, STORE))
  const engines: Engine[] = []
  const lives: Life[] = []
  const problems: string[] = []
  const newest = (): number => lives.length

  async function begin(crash?: ProcessCrash) {
    const life = createLife(lives.length + 1, crash?.at === "unsaved" ? undefined : crash)
    lives.push(life)
    const clock = createManualClock(1_700_000_000_000 + life.number * LIFE_MS)
    const engine = await openLifeEngine(directory, life.number, clock, newest)
    engines.push(engine)
    letTimePass(life, clock)
    return { life, opened: open(engine, life, clock, crash) }
  }

  async function open(engine: Engine, life: Life, clock: ManualClock, crash?: ProcessCrash): Promise<OpenDelivery> {
    const mortal = createMortalEngine(engine, life)
    const world = createWorld(async (turns) => {
      for (let turn = 0; turn < turns; turn++) await life.guard(new Promise<void>((resolve) => setImmediate(resolve)))
    })
    const runtime = await createRuntime({
      ...toRuntimeOptions(plan, world, createTeller(problems, life)),
      clock,
      dataDirectory: directory,
      engine: crash?.at === "unsaved" ? forgetFrom(mortal, life, crash.number) : mortal,
    })
    return { runtime, world, store: engine.store }
  }

  return {
    problems,
    begin,
    describeLive: () => describeLive((engines.at(-1) as Engine).store),
    async remove() {
      for (const life of lives) life.end()
      await Promise.all(engines.map((engine) => engine.close()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const STORE = "store.sqlite"
const createDirectory = (): string => mkdtempSync(join(tmpdir(), "meanwhile-delivery-"))

/** Options for every kind of life. The scan comes too rarely to help: a result that is not told at its wake-up is lost. */
export function toRuntimeOptions(plan: DeliveryPlan, world: DeliveryWorld, model: ConnectedModel): RuntimeOptions {
  const { maxConsecutiveWakes, tasksAtOnce } = plan
  return {
    environment: {},
    model,
    plugins: [
      definePlugin({ kind: "tool", name: "delivery", tools: createDeliveryTools(world) }),
      createBackgroundPlugin(),
    ],
    permissions: allowAll,
    reports: { maxConsecutiveWakes },
    background: {
      maxConcurrentTasks: tasksAtOnce,
      maxConcurrentPerPlugin: tasksAtOnce,
      maxConcurrentPerSession: tasksAtOnce,
      stopGraceSeconds: 0.1,
      leaseSeconds: 60,
      completionScanIntervalMs: LIFE_MS,
    },
  }
}

/** A model whose calls are effects: a life can end before the question is sent, and before the answer arrives. */
export function createTeller(problems: string[], life?: Life): ConnectedModel {
  return {
    id: "teller/model",
    contextLimitTokens: 1_000_000,
    async generate({ messages, signal }) {
      problems.push(...findRepeatedShowings(messages))
      if (life && !liveThroughEffect(life, () => {})) return new Promise(() => {})
      await new Promise<void>((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
      const { text, calls } = tellStory(messages)
      const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 0 }
      const parts = [{ type: "text", text } as const, ...calls]
      return { message: { role: "assistant", parts }, finish: calls.length > 0 ? "calls" : "stop", usage }
    },
  }
}

/** Moves the clock by a millisecond at every turn of the event loop, as long as the life lasts. */
function letTimePass(life: Life, clock: ManualClock): void {
  if (life.isOver) return
  clock.advance(1)
  setImmediate(letTimePass, life, clock)
}
