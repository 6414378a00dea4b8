import { unlessAborted } from "../../base/unless-aborted.ts"
import { type PersonChannel, WITHDRAWN } from "../question/read-answer.ts"

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
      const channel = await unlessAborted(signal, there.promise).catch(() => null)
      return channel ? channel.ask(question, signal) : WITHDRAWN
    },
  }
}
