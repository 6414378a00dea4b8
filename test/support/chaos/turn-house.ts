import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/app.ts"
import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import { openLifeEngine } from "./life-engine.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ConnectedModel } from "../../../src/plugin/model.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { Engine } from "../../../src/task/engine.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { createLife, createMortalEngine, type Life, liveThroughEffect } from "./mortal-engine.ts"
import { describeLive } from "./store-invariants.ts"
import { forgetFrom, losePowerFrom, type TurnCrash } from "./turn-crash.ts"
import { tellFrom } from "./turn-story.ts"
import { createTurnTools, THRESHOLD_MS } from "./turn-tools.ts"
import { removeTestStore } from "../test-engine.ts"

export interface OpenHouse {
  readonly runtime: Runtime
  /** The store without crashes, to look at it. */
  readonly store: TaskStore
}

export interface HouseOptions extends Pick<RuntimeOptions, "gc" | "plugins"> {
  readonly contextLimitTokens?: number
  /** Holds the life after an effect (`asked STORY STEP` or `did CALL`) until the promise resolves. */
  readonly hold?: (effect: string) => Promise<void> | undefined
  /** Awaited before anything is taken from the queue. */
  readonly beforeClaims?: () => Promise<void> | undefined
}

/** A store that outlives the lives of its program, and the effects of those lives outside it. */
export interface TurnHouse {
  /** `asked STORY STEP`, `did CALL`, `done CALL`, in the order in which they happened. */
  readonly effects: string[]
  begin(crash?: TurnCrash): Promise<{ life: Life; clock: ManualClock; opened: Promise<OpenHouse> }>
  describeLive(): Promise<string>
  remove(): Promise<void>
}

export function createTurnHouse(options: HouseOptions = {}): TurnHouse {
  const directories = [createDirectory()]
  /** The folder of the current store: a copy of the disk's state after each power failure. */
  let directory = directories[0] as string
  const effects: string[] = []
  const engines: Engine[] = []
  let current = 0

  async function begin(crash?: TurnCrash) {
    current += 1
    directory = directories.at(-1) as string
    const life = createLife(current, crash?.at === "unsaved" || crash?.at === "power" ? undefined : crash)
    const clock = createManualClock(1_700_000_000_000 + current * 60_000)
    const engine = await openLifeEngine(directory, current, clock, () => current)
    engines.push(engine)
    return { life, clock, opened: open(engine, life, clock, crash) }
  }

  /** Copies the folder as a power failure leaves it: without `-shm`, the memory that processes share. */
  function keepDisk(): void {
    const copy = createDirectory()
    cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith("-shm") })
    directories.push(copy)
  }

  function toCrashing(engine: Engine, life: Life, crash: TurnCrash | undefined): Engine {
    if (crash?.at === "unsaved") return forgetFrom(engine, life, crash.number)
    return crash?.at === "power" ? losePowerFrom(engine, life, crash.number, keepDisk) : engine
  }

  async function open(engine: Engine, life: Life, clock: ManualClock, crash?: TurnCrash): Promise<OpenHouse> {
    const tools = createMortalTools(life, clock, effects, options.hold)
    const mortal = holdClaims(createMortalEngine(engine, life), options.beforeClaims)
    const runtime = await createRuntime({
      ...options,
      clock,
      dataDirectory: directory,
      environment: {},
      engine: toCrashing(mortal, life, crash),
      model: createStoryModel(life, effects, options),
      plugins: [definePlugin({ kind: "tool", name: "story", tools }), ...(options.plugins ?? [])],
      permissions: allowAll,
      background: { stopGraceSeconds: 0.1, leaseSeconds: 15 },
    })
    return { runtime, store: engine.store }
  }

  return {
    effects,
    begin,
    describeLive: () => describeLive((engines.at(-1) as Engine).store),
    async remove() {
      await Promise.all(engines.map((engine) => engine.close()))
      for (const each of directories) {
        await removeTestStore(each)
        rmSync(each, { recursive: true, force: true })
      }
    },
  }
}

const createDirectory = (): string => mkdtempSync(join(tmpdir(), "meanwhile-turn-"))

const MODEL = "teller/model"
const CHARACTERS_PER_TOKEN = 4

const never = <Value>(): Promise<Value> => new Promise(() => {})
const breathe = (life: Life): Promise<void> => life.guard(new Promise<void>((resolve) => setImmediate(resolve)))

/** A model whose calls are effects: a life can end before the question is sent, and before the answer arrives. */
function createStoryModel(
  life: Life,
  effects: string[],
  { contextLimitTokens = 128_000, hold }: HouseOptions,
): ConnectedModel {
  return {
    id: MODEL,
    contextLimitTokens,
    async generate({ messages, signal }) {
      const { place, text, calls } = tellFrom(messages)
      const question = `asked ${place.story} ${place.step}`
      if (!liveThroughEffect(life, () => effects.push(question))) return never()
      await breathe(life)
      await whileHeld(hold?.(question), signal)
      signal.throwIfAborted()
      const finish = calls.length > 0 ? "calls" : "stop"
      const inputTokens = Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN)
      const usage = { inputTokens, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 0 }
      return { message: { role: "assistant", parts: [{ type: "text", text }, ...calls] }, finish, usage }
    },
  }
}

function createMortalTools(life: Life, clock: ManualClock, effects: string[], hold: HouseOptions["hold"]) {
  return createTurnTools({
    act(what, key) {
      if (!liveThroughEffect(life, () => effects.push(`${what} ${key}`))) throw new Error("this life is over")
    },
    async pause(key, signal) {
      await breathe(life)
      await whileHeld(hold?.(`did ${key}`), signal)
    },
    async outlast(key, signal) {
      await breathe(life)
      await whileHeld(hold?.(`did ${key}`), signal)
      clock.advance(THRESHOLD_MS)
      await breathe(life)
    },
  })
}

async function whileHeld(held: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (!held || signal.aborted) return
  const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
  await Promise.race([held, stopped])
}

function holdClaims(engine: Engine, before: HouseOptions["beforeClaims"]): Engine {
  const { dispatcher } = engine
  const take: typeof dispatcher.take = async (request) => {
    await before?.()
    return dispatcher.take(request)
  }
  return { ...engine, dispatcher: { ...dispatcher, take } }
}
