import { setImmediate, setTimeout as pause } from "node:timers/promises"
import { createRuntime, type Runtime } from "../../../src/app.ts"
import type { ManualClock } from "../../../src/base/manual-clock.ts"
import { createBackgroundPlugin } from "../../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { createScriptedProvider, type ScriptedProvider } from "../../../src/builtin/scripted/scripted-provider.ts"
import { createSubagentPlugin } from "../../../src/builtin/subagent/subagent-plugin.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { Tool } from "../../../src/plugin/tool.ts"
import type { ToolPlugin } from "../../../src/plugin/tool-plugin.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import { toBackgroundConfig } from "../../../src/runner/limits/background-config.ts"
import { toAgentConfig } from "../../../src/session/conversation/agent-config.ts"
import type { Session } from "../../../src/session/conversation/session.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { WORKER } from "../session/open-subagents.ts"
import { isPostgres } from "../test-engine.ts"
import type { FaultyEngine } from "./fault-engine.ts"
import { createFaultTools, type FaultTools } from "./fault-tools.ts"

/** The answers of the two models: of the conversation, and of the agents below it. */
export interface FaultScript {
  readonly main: readonly ScriptStep[]
  readonly below?: readonly ScriptStep[]
}

/** A runtime on a store with a fault, and a world around it whose time passes. */
export interface FaultStage {
  readonly runtime: Runtime
  /** The store without the fault, to look at it. */
  readonly store: TaskStore
  /** Whatever is older in the store is of plays before. */
  readonly since: number
  readonly session: Session
  readonly provider: ScriptedProvider
  readonly tools: FaultTools
  /** The messages to the session, each with the answer that `send` resolved with. */
  readonly said: readonly SaidMessage[]
  say(text: string): Promise<void>
  /** Looks after each commit until it finds something. */
  find<Found>(look: () => Promise<Found | undefined>): Promise<Found>
  /** Resolves once the store refuses nothing any more. */
  outlast(): Promise<void>
  close(): Promise<void>
}

export interface SaidMessage {
  readonly text: string
  readonly outcome: string
  readonly answer: string
}

export interface StageOptions extends FaultScript {
  readonly directory: string
  readonly engine: FaultyEngine
  readonly store: TaskStore
  readonly since: number
  readonly clock: ManualClock
  /** The session of an earlier stage on the same store. Default: a new one. */
  readonly session?: SessionId
}

/** Time passes fast here, also while a server takes its time to renew a lease. */
const LEASE = isPostgres ? { leaseSeconds: 60 } : {}

export async function openFaultStage(options: StageOptions): Promise<FaultStage> {
  const { directory, engine, store, since, clock, main, below = [] } = options
  const tools = createFaultTools()
  const provider = createScriptedProvider("script", { main, below }, { clock })
  const background = LEASE
  const runtime = await createRuntime({
    engine,
    clock,
    dataDirectory: directory,
    permissions: allowAll,
    environment: {},
    model: "script/main",
    background,
    reports: { enabled: true },
    plugins: [
      provider,
      createPatientSubagents(),
      definePlugin({ kind: "tool", name: "test", tools: tools.all }),
      createBackgroundPlugin({
        ...toBackgroundConfig(background),
        toolResultLimitCharacters: toAgentConfig({}).toolResultLimitCharacters,
        vocabulary: "meanwhile",
      }),
    ],
  })
  const said: SaidMessage[] = []
  const session = await (options.session ? runtime.openSession(options.session) : runtime.createSession())
  return {
    runtime,
    store,
    since,
    session,
    provider,
    tools,
    said,
    async say(text) {
      const { outcome, text: answer } = await session.send(text)
      said.push({ text, outcome, answer })
    },
    async find(look) {
      for (;;) {
        const seen = engine.written()
        const found = await look()
        if (found !== undefined) return found
        while (engine.written() === seen) await nextMoment()
      }
    },
    async outlast() {
      while (engine.isRefusing()) await nextMoment()
    },
    close: () => runtime.close(),
  }
}

const STEP_MS = 10
/** While everything is refused, little happens between two moments. */
const OUTAGE_STEP_MS = 200
/** Much longer than a fault, with everything that is put off because of it. */
const LONGEST_MS = 120_000

/** Lets time pass until the work is over. Undefined if it was not over after minutes of that time: it hangs. */
export async function passTime<Result>(
  { engine, clock }: Pick<StageOptions, "engine" | "clock">,
  work: Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  let isOver = false
  const settle = (): void => void (isOver = true)
  work.then(settle, settle)
  const startedMs = clock.monotonic()
  while (!isOver && clock.monotonic() - startedMs < LONGEST_MS) {
    await nextMoment()
    clock.advance(engine.isRefusing() ? OUTAGE_STEP_MS : STEP_MS)
  }
  return isOver ? { result: await work } : undefined
}

/** A server needs real time for its answers; a file answers at once. */
const nextMoment = (): Promise<unknown> => (isPostgres ? pause(1) : setImmediate())

/** Longer than any fault, so that an agent in the foreground stays there. */
const FOREGROUND_MS = 60_000

function createPatientSubagents(): ToolPlugin {
  const plugin = createSubagentPlugin({ directories: [], profiles: [WORKER] })
  const stay = (tool: Tool): Tool =>
    tool.name === "spawn_subagent" ? { ...tool, background: { mode: "after", ms: FOREGROUND_MS } } : tool
  return { ...plugin, tools: plugin.tools?.map(stay) ?? [] }
}
