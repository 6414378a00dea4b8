import type { PersonChannel } from "../question/read-answer.ts"

/** A person who is not there yet. A turn of an earlier process goes on before the greeting, and may ask something. */
export interface LatePerson extends PersonChannel {
  /** Hands over the questions so far, and from now on asks the person. */
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
