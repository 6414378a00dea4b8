import { EXPECTED_LIVE } from "../../../src/engine/suite/oracle.ts"
import { createRuntime } from "../../../src/app.ts"
import { isMeanwhileError } from "../../../src/base/error.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ConnectedModel } from "../../../src/plugin/model.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import { allowAll } from "../../../src/runner/admit/permission.ts"
import type { SessionId } from "../../../src/task/id.ts"
import { createChaosTools } from "./chaos-tools.ts"
import type { Random } from "./seed.ts"
import { describeLive } from "./store-invariants.ts"

/** Where the work of a fleet is asked for and its results are told: conversations, and nothing that runs a tool. */
export interface FleetDesk {
  readonly sessions: readonly SessionId[]
  readonly answered: ReadonlySet<string>
  /** Tasks whose repetition after a crash was declined. */
  readonly declined: ReadonlySet<string>
  /** Starts the call once: its number is the idempotency key, and the start is tried until the store answers. */
  start(call: ToolCall, number: number): Promise<void>
  /** Answers every question whether an interrupted step is run again, at random. */
  answerWaits(): Promise<void>
  /** The number of live tasks; undefined while the store is away. */
  countLive(): Promise<number | undefined>
  /** The number of live turns. A turn begins again, even after its results were told, if the desk was silent too long. */
  countLiveTurns(): Promise<number | undefined>
  /** The number of results that were not told yet; undefined while the store is away. */
  countUntold(): Promise<number | undefined>
  describe(): Promise<string>
  close(): Promise<void>
}

export interface FleetDeskOptions {
  readonly engine: string
  readonly directory: string
  readonly leaseSeconds?: number
  readonly sessions: number
  readonly random: Random
}

const MANY = 100_000
/** The share of questions that are answered yes. */
const YES_SHARE = 0.8

export async function openFleetDesk(options: FleetDeskOptions): Promise<FleetDesk> {
  const { engine: url, directory, leaseSeconds, random } = options
  const nowhere = { act: () => {}, pause: async () => {} }
  const runtime = await createRuntime({
    engine: url,
    dataDirectory: directory,
    environment: {},
    model: noting,
    // The desk runs turns only; workers run the tools of its tasks.
    takesKinds: ["turn"],
    plugins: [definePlugin({ kind: "tool", name: "chaos", tools: createChaosTools(nowhere) })],
    permissions: allowAll,
    reports: { enabled: true, maxConsecutiveWakes: MANY },
    background: { completionScanIntervalMs: 500, ...(leaseSeconds !== undefined && { leaseSeconds }) },
  })
  const { tasks, engine } = runtime
  const { store } = engine
  const opened = await Promise.all(Array.from({ length: options.sessions }, () => runtime.createSession()))
  const sessions = opened.map(({ id }) => id)
  const answered = new Set<string>()
  const declined = new Set<string>()

  return {
    sessions,
    answered,
    declined,
    async start(call, number) {
      const session = sessions[number % sessions.length] ?? null
      for (;;) {
        const task = await whileAway(tasks.start({ ...call, session, idempotencyKey: `call ${number}` }))
        if (task) return void answered.add(task.id)
      }
    },
    async answerWaits() {
      const { items } = (await whileAway(tasks.list({ statuses: ["waiting"] }))) ?? { items: [] }
      for (const task of items) {
        if (task.status !== "waiting") continue
        const answer = !declined.has(task.id) && random.chance(YES_SHARE)
        if (!answer) declined.add(task.id)
        await whileAway(tasks.answer(task.wait.id, answer, "somebody"))
      }
    },
    countLive: () => whileAway(store.countTasks({ statuses: EXPECTED_LIVE, kinds: ["tool"] })),
    countLiveTurns: () => whileAway(store.countTasks({ statuses: EXPECTED_LIVE, kinds: ["turn"] })),
    countUntold: async () => (await whileAway(store.notices({ states: ["pending", "claimed"] }, MANY)))?.length,
    describe: () => describeLive(store),
    close: () => runtime.close(),
  }
}

/** Undefined if the store was away, or the question was answered already. The caller asks again. */
async function whileAway<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked
  } catch (error) {
    if (isMeanwhileError(error, "store_unavailable") || isMeanwhileError(error, "wrong_state")) return undefined
    throw error
  }
}

/** A model that acknowledges whatever it is told. */
const noting: ConnectedModel = {
  id: "noting/model",
  contextLimitTokens: 100_000_000,
  async generate() {
    const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 0 }
    return { message: { role: "assistant", parts: [{ type: "text", text: "Noted." }] }, finish: "stop", usage }
  },
}
