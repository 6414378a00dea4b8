import { createManualClock } from "../../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { GcPlugin } from "../../../src/plugin/gc-plugin.ts"
import type { PersonChannel } from "../../../src/plugin/person-port.ts"
import { createGatedTool } from "../tools.ts"
import { createGate } from "./gate.ts"
import type { AgentOptions, OpenAgent } from "./open-agent.ts"
import { add } from "./test-tools.ts"

/** A turn that stands still at one moment of its life. */
export interface AbortMoment {
  readonly script: readonly ScriptStep[]
  readonly options: AgentOptions
  /** Resolves when the turn is there. */
  readonly reached: (agent: OpenAgent) => Promise<unknown>
  /** After the abort, releases work that does not look at its signal. */
  readonly release?: () => void
  /** What the model had said by then. */
  readonly said?: string
}

const call = { tool: "add", input: { a: 1, b: 2 } }

export const ABORT_MOMENTS: Readonly<Record<string, () => AbortMoment>> = {
  "before the model answers": () => {
    const gate = createGate()
    return { script: [() => ({ gate: gate.pass(), text: "late" })], options: {}, reached: () => gate.reached }
  },
  "in the middle of the answer": () => {
    const gate = createGate()
    const script: ScriptStep[] = [
      ({ onDelta }) => {
        onDelta?.({ type: "text", text: "I was just say" })
        return { gate: gate.pass(), text: "late" }
      },
    ]
    return { script, options: {}, reached: () => gate.reached, said: "I was just say" }
  },
  "while a tool runs": () => {
    const gated = createGatedTool({ background: { mode: "never" }, obeys: true })
    const calls = [call, { tool: "gated" }]
    return { script: [{ calls }], options: { tools: [add, gated.tool] }, reached: () => gated.call(1) }
  },
  "between a tool and the next answer": () => {
    const gate = createGate()
    const script: ScriptStep[] = [{ calls: [call] }, () => ({ gate: gate.pass(), text: "late" })]
    return { script, options: { tools: [add] }, reached: () => gate.reached }
  },
  "while it waits to ask again": () => {
    const clock = createManualClock()
    const error = { code: "rate_limited", retryAfterMs: 30_000 } as const
    return { script: [{ error }], options: { clock }, reached: (agent) => heard(agent, "model_call.retried") }
  },
  "while a person is asked for permission": () => {
    const gate = createGate()
    const person: PersonChannel = {
      name: "test",
      async ask(_question, signal) {
        const withdrawn = Promise.withResolvers<void>()
        signal.addEventListener("abort", () => withdrawn.resolve())
        await Promise.race([gate.pass(), withdrawn.promise])
        return { isAnswered: false, reason: "withdrawn" }
      },
    }
    const write = { ...add, name: "write", effects: ["write"] as const }
    const calls = [{ ...call, tool: "write" }, call]
    const permissions = { rules: [] }
    return { script: [{ calls }], options: { tools: [add, write], person, permissions }, reached: () => gate.reached }
  },
  "while the context is collected": () => {
    const gate = createGate()
    const gc: GcPlugin = definePlugin({
      kind: "gc",
      name: "gated_gc",
      shouldCollect: () => ({ isDue: true, reason: "test" }),
      async collect(messages, _usage, _config, _reason, { signal }) {
        const aborted = Promise.withResolvers<void>()
        signal.addEventListener("abort", () => aborted.resolve())
        await Promise.race([gate.pass(), aborted.promise])
        signal.throwIfAborted()
        return { messages, removedMessages: 0, summary: "" }
      },
    })
    return {
      script: [],
      options: {},
      reached: async ({ session }) => {
        session.setGc(gc)
        await gate.reached
        session.setGc(null)
      },
    }
  },
  "while the prompt is enriched": () => {
    const gate = createGate()
    const enriching = definePlugin({
      kind: "tool",
      name: "slow_enricher",
      tools: [],
      enrichPrompt: (prompt: string) => (prompt === "go" ? gate.pass().then(() => ({ prompt })) : { prompt }),
    })
    return { script: [], options: { plugins: [enriching] }, reached: () => gate.reached, release: () => gate.open() }
  },
}

function heard({ runtime, events }: OpenAgent, type: string): Promise<unknown> {
  if (events.some((event) => event.type === type)) return Promise.resolve()
  return new Promise((resolve) => runtime.on((event) => event.type === type && resolve(event)))
}
