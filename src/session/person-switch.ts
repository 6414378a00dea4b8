import { NEVER } from "./conversation/conversation.ts"
import type { PersonChannel, PersonPort } from "../plugin/person-port.ts"

/** The person's current front end: front ends attach themselves, and the last one is asked. */
export interface PersonSwitch extends PersonPort {
  /** Null while no front end is attached. */
  channel(): PersonChannel | null
  /** Returns a function that detaches the front end. A front end that was attached before is not added again. */
  attach(channel: PersonChannel): () => void
}

export function createPersonSwitch(): PersonSwitch {
  const channels: PersonChannel[] = []
  return {
    channel: () => channels.at(-1) ?? null,
    attach(channel) {
      if (!channels.includes(channel)) channels.push(channel)
      return () => {
        const index = channels.indexOf(channel)
        if (index >= 0) channels.splice(index, 1)
      }
    },
    async ask(question, signal = NEVER) {
      const channel = channels.at(-1)
      if (!channel) return { isAnswered: false, reason: "nobody is there to answer" }
      return channel.ask(question, signal)
    },
  }
}
