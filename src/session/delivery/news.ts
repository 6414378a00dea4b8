import type { CancelTimer } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { Wake } from "../../task/bus.ts"
import type { Conversation } from "../conversation.ts"
import type { AgentScope } from "../scope.ts"

const TELLING = ["wake", "next_turn"] as const
const WORK_KINDS = ["tool", "agent", "workflow"] as const

/** Tells the conversations of this process when something may have ended, or been said, that they have not heard of. */
export interface News {
  /** Looks now and then whether a wake-up was lost, while there are conversations with tasks. */
  watch(): void
  close(): void
}

export function createNews(scope: AgentScope): News {
  const { bus, clock, open, background } = scope
  let cancelScan: CancelTimer | null = null
  let isClosed = false
  const unsubscribe = bus.subscribe(hear)

  function hear(wake: Wake): void {
    if (wake.about === "session" && wake.hasNotice !== false) rouse(open.get(wake.sessionId))
    else if (wake.about === "unknown") for (const conversation of open.values()) rouse(conversation)
  }

  function watch(): void {
    if (cancelScan || isClosed) return
    cancelScan = clock.schedule(background.completionScanIntervalMs, () => void scan(), { isBackground: true })
  }

  async function scan(): Promise<void> {
    const watched = [...open.values()].filter(({ hasTasks }) => hasTasks)
    for (const conversation of watched) await lookAgain(scope, conversation)
    cancelScan = null
    if ([...open.values()].some(({ hasTasks }) => hasTasks)) watch()
  }

  function rouse(conversation: Conversation | undefined): void {
    if (!conversation) return
    conversation.hasNews = true
    conversation.hasTasks = true
    conversation.reporter?.wake()
    watch()
  }

  return {
    watch,
    close() {
      isClosed = true
      unsubscribe()
      cancelScan?.()
    },
  }
}

/** Of a conversation that has neither live tasks nor results that it has not used, there is nothing to look for. */
async function lookAgain(scope: AgentScope, conversation: Conversation): Promise<void> {
  const { store, log } = scope
  const { id: session, workspace } = conversation.log
  try {
    // Those of silent tasks stay unused until somebody reads them: they are no news.
    const unused = await store.notices({ workspace, session, states: ["pending", "claimed"], notify: TELLING }, 1)
    if (unused.length > 0) {
      conversation.hasNews = true
      return conversation.reporter?.wake()
    }
    const live = await store.countTasks({ workspace, session, statuses: LIVE_STATUSES, kinds: WORK_KINDS })
    if (live === 0 && !conversation.current) conversation.hasTasks = false
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    log.warn("ended tasks could not be looked for", { session, error: toErrorMessage(error) })
  }
}
