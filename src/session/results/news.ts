import type { CancelTimer } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { Wake } from "../../task/bus.ts"
import type { SessionId } from "../../task/id.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { readSaid } from "./steering-messages.ts"
import type { Using } from "../conversation/scope.ts"
import { WORK_KINDS } from "../../task/record.ts"

const TELLING = ["wake", "next_turn"] as const

/** Tells the conversations of this process that tasks may have ended, or that messages to them may have come. */
export interface News {
  /** Looks now and then for what a lost wake-up would have told, while there are conversations with tasks. */
  watch(): void
  close(): void
}

export function createNews(scope: Using<"bus" | "clock" | "config" | "log" | "open" | "store">): News {
  const { bus, clock, open, config } = scope
  let cancelScan: CancelTimer | null = null
  let isClosed = false
  const unsubscribe = bus.subscribe(hear)

  function hear(wake: Wake): void {
    if (wake.about === "unknown") for (const conversation of open.values()) rouse(conversation)
    else if (wake.about === "session" && mayBeNews(wake, wake.sessionId)) rouse(open.get(wake.sessionId))
  }

  function watch(): void {
    if (cancelScan || isClosed) return
    cancelScan = clock.schedule(config.background.completionScanIntervalMs, () => void scan(), { isBackground: true })
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

/** True if the wake-up may mean an ended task or a new message for the session. */
export function mayBeNews(wake: Wake, session: SessionId): boolean {
  if (wake.about === "unknown") return true
  return wake.about === "session" && wake.sessionId === session && wake.hasNotice !== false
}

/**
 * Looks for unused results and new messages of a conversation. Looks no more once it has no live tasks either, unless it is
 * a subagent's, which can be sent messages as long as it is open.
 */
async function lookAgain(scope: Using<"log" | "store">, conversation: Conversation): Promise<void> {
  const { store, log } = scope
  const { id: session, workspace, data } = conversation.log
  const isChild = data.parent !== null
  try {
    // Notices of silent tasks stay unused until somebody reads them: they are no news.
    const unused = await store.notices({ workspace, session, states: ["pending", "claimed"], notify: TELLING }, 1)
    const said = isChild ? await readSaid(scope, conversation.log) : []
    if (unused.length + said.length > 0) {
      conversation.hasNews = true
      return conversation.reporter?.wake()
    }
    if (isChild || conversation.current) return
    const live = await store.countTasks({ workspace, session, statuses: LIVE_STATUSES, kinds: WORK_KINDS })
    if (live === 0) conversation.hasTasks = false
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    log.warn("ended tasks could not be looked for", { session, error: toErrorMessage(error) })
  }
}
