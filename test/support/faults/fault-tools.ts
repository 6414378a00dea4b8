import { z } from "zod"
import { defineTool, type Tool } from "../../../src/plugin/tool.ts"

/** Tools whose effects are counted, and whose work ends when the test says so. */
export interface FaultTools {
  readonly all: readonly Tool[]
  /** The names of the effects, in order. Each is to be there once. */
  readonly effects: readonly string[]
  /** Ends the work of that name, as soon as it has begun. */
  finish(name: string): Promise<void>
}

/** Long enough that a call is asked for in the foreground, and short for those who wait. */
const PROMOTED_AFTER_MS = 100

export function createFaultTools(): FaultTools {
  const effects: string[] = []
  const begun = new Map<string, PromiseWithResolvers<() => void>>()
  const workOf = (name: string) => {
    const known = begun.get(name) ?? Promise.withResolvers<() => void>()
    begun.set(name, known)
    return known
  }
  const input = z.object({ name: z.string() })

  const touch = defineTool({
    name: "touch",
    description: "Has an effect at once.",
    input,
    async run({ name }) {
      effects.push(name)
      return `touched ${name}`
    },
  })
  const work = defineTool({
    name: "work",
    description: "Works until the test ends it, with an effect at its beginning and one, in a step, at its end.",
    input,
    background: { mode: "after", ms: PROMOTED_AFTER_MS },
    onCrash: "retry",
    title: ({ name }) => name,
    async run({ name }, { step, signal, progress, spend }) {
      await step("begin", async () => effects.push(`${name} begins`))
      progress({ line: `${name} is under way` })
      spend({ tokens: 7 })
      const ended = Promise.withResolvers<void>()
      signal.addEventListener("abort", () => ended.reject(new Error("stopped")))
      signal.throwIfAborted()
      workOf(name).resolve(ended.resolve)
      await ended.promise.finally(() => begun.delete(name))
      await step("end", async () => effects.push(`${name} ends`))
      return `${name} is done`
    },
  })
  const ask = defineTool({
    name: "ask",
    description: "Asks a person.",
    input,
    background: { mode: "always" },
    onCrash: "retry",
    title: ({ name }) => name,
    async run({ name }, { person }) {
      const answer = await person.ask({ kind: "text", text: `What about ${name}?` })
      effects.push(`${name} is answered`)
      return answer.isAnswered ? answer.value : answer.reason
    },
  })
  return {
    all: [touch, work, ask],
    effects,
    async finish(name) {
      const finish = await workOf(name).promise
      finish()
    },
  }
}
