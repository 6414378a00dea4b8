import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import { openLifeEngine } from "./life-engine.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import { createRegistry } from "../../../src/plugin/registry.ts"
import type { BackgroundConfigInput } from "../../../src/runner/limits/background-config.ts"
import { createRunner, type Runner } from "../../../src/runner/runner.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { createBurstTool, createChaosTools } from "./chaos-tools.ts"
import { type CrashPoint, createLife, createMortalEngine, type Life, liveThroughEffect } from "./mortal-engine.ts"
import { describeLive } from "./store-invariants.ts"
import { removeTestStore } from "../test-engine.ts"

/** What the crashes leave behind: the store's file, what happened outside, and what callers were told. */
export interface House {
  readonly directory: string
  readonly effects: string[]
  readonly answered: Set<string>
  readonly mayBeCancelled: Set<string>
  readonly mustBeStopped: Set<string>
  readonly mustHaveRun: Map<string, number>
  readonly mustBeUsed: Set<string>
  /** Ends the life before, whose calls are never answered from then on, and begins another. */
  begin(crash?: CrashPoint): Promise<{ life: Life; clock: ManualClock; opened: Promise<Opened> }>
  /** The live tasks with their events, for a message about a round that does not end. */
  describeLive(): Promise<string>
  remove(): Promise<void>
}

export interface Opened {
  readonly tasks: Runner
  /** The engine without crashes, to look at the store. */
  readonly engine: Engine
  close(): Promise<void>
}

export const ROOM: BackgroundConfigInput = {
  maxConcurrentTasks: 3,
  maxConcurrentPerPlugin: 3,
  stopGraceSeconds: 0.1,
  leaseSeconds: 15,
}

export function createHouse(): House {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-crash-"))
  const effects: string[] = []
  const engines: Engine[] = []
  let current = 0

  async function begin(crash?: CrashPoint) {
    current += 1
    const life = createLife(current, crash)
    const clock = createManualClock(1_700_000_000_000 + current * 60_000)
    const engine = await openLifeEngine(directory, current, clock, () => current)
    engines.push(engine)
    return { life, clock, opened: open(engine, life, clock) }
  }

  async function open(engine: Engine, life: Life, clock: ManualClock): Promise<Opened> {
    const registry = createRegistry()
    const world = {
      act(what: "did" | "done", key: string): void {
        if (!liveThroughEffect(life, () => effects.push(`${what} ${key}`))) throw new Error("this life is over")
      },
      pause: () => life.guard(new Promise<void>((resolve) => setImmediate(resolve))),
    }
    const tools = [...createChaosTools(world), createBurstTool(ROOM.maxConcurrentTasks ?? 1)]
    await registry.register(definePlugin({ kind: "tool", name: "chaos", tools }))
    const tasks = await createRunner({
      engine: createMortalEngine(engine, life),
      registry,
      spoolDirectory: join(directory, "spool"),
      background: ROOM,
      clock,
    })
    return { tasks, engine, close: () => tasks.close() }
  }

  return {
    directory,
    effects,
    answered: new Set(),
    mayBeCancelled: new Set(),
    mustBeStopped: new Set(),
    mustHaveRun: new Map(),
    mustBeUsed: new Set(),
    begin,
    describeLive: () => describeLive((engines.at(-1) as Engine).store),
    async remove() {
      await Promise.all(engines.map((engine) => engine.close()))
      await removeTestStore(directory)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
