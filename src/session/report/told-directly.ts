import type { Conversation } from "../conversation/conversation.ts"
import { type Delivery, type EndedTask, keysOf, toKeyText, type WaitingTask } from "../results/delivery.ts"
import type { AgentScope } from "../conversation/scope.ts"
import { fallBack } from "./publish-report.ts"

/** What the person was told of without a report, once, for as long as the model has not heard of it. */
export interface ToldDirectly {
  show(found: readonly WaitingTask[], why?: string | null): void
  /** A report of these was tried, and failed: the person knows, and no other is tried. */
  giveUp(ended: readonly EndedTask[]): void
  isGivenUp(ended: EndedTask): boolean
  forgetUsed(unused: Delivery): void
}

export function createToldDirectly(scope: AgentScope, conversation: Conversation): ToldDirectly {
  const shown = new Set<string>()
  const givenUp = new Set<string>()
  return {
    show(found, why = null) {
      const unseen = found.filter(({ key }) => !shown.has(toKeyText(key)))
      for (const { key } of unseen) shown.add(toKeyText(key))
      const tasks = unseen.map(({ task }) => task)
      fallBack(scope, conversation, tasks, why)
    },
    giveUp(ended) {
      const keys = ended.map(({ key }) => toKeyText(key))
      for (const key of keys) {
        givenUp.add(key)
        shown.add(key)
      }
    },
    isGivenUp: ({ key }) => givenUp.has(toKeyText(key)),
    forgetUsed(unused) {
      const keys = new Set(keysOf(unused).map(toKeyText))
      for (const known of [shown, givenUp]) for (const key of known) if (!keys.has(key)) known.delete(key)
    },
  }
}
