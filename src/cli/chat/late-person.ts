import type { PersonChannel } from "./read-answer.ts"

/** Whoever will be there: a turn of an earlier process goes on, and may ask, before a person was greeted. */
export interface LatePerson extends PersonChannel {
  /** From now on they are asked, also what was asked before. */
  come(channel: PersonChannel): void
}

export function createLatePerson(): LatePerson {
  const there = Promise.withResolvers<PersonChannel>()
  return {
    name: "terminal",
    come: there.resolve,
    async ask(question, signal) {
      const withdrawn = Promise.withResolvers<null>()
      const withdraw = (): void => withdrawn.resolve(null)
      signal.addEventListener("abort", withdraw, { once: true })
      if (signal.aborted) withdraw()
      const channel = await Promise.race([there.promise, withdrawn.promise])
      signal.removeEventListener("abort", withdraw)
      return channel ? channel.ask(question, signal) : { isAnswered: false, reason: "the question was withdrawn" }
    },
  }
}
