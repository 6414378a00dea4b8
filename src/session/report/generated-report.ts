import { toErrorMessage } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { type Message, userMessage } from "../../plugin/message.ts"
import { type Conversation, inTurn } from "../conversation/conversation.ts"
import { requireOpen, type ContextScope } from "../conversation/context.ts"
import { NO_ANSWER } from "../log/log-entry.ts"
import {
  type Delivery,
  endedIn,
  type EndedTask,
  keepEnded,
  keysOf,
  toKeyText,
  NOTHING_TO_TELL,
  isNothing,
} from "../results/delivery.ts"
import { readPending, type PendingContext, toPendingText, toTold, usePending } from "../results/pending-context.ts"
import { readToolContext } from "../saved/session-state.ts"
import { toReportRequest } from "./make-request.ts"
import { announceReport, fallBack, publishReport } from "./publish-report.ts"
import { limitTime } from "./report-turn.ts"
import type { ReportMark } from "../turn/report-mark.ts"
import type { ReportGenerator } from "../conversation/report-request.ts"
import type { Using } from "../conversation/scope.ts"
import type { ReportScope } from "../conversation/report-config.ts"

type GeneratedReportScope = ContextScope & Using<"clock" | "log" | "open" | "store"> & ReportScope

export interface GeneratedReports {
  readonly generator: ReportGenerator
  readonly delivery: Delivery
  readonly hops: number
}

/**
 * Publishes reports that a generator writes. The conversation goes on meanwhile: a report whose results it has all used by
 * then is not published. If the process dies before the commit, nothing was told, and the generator is asked again. Returns
 * the results of which no report could be made.
 */
export async function publishGenerated(
  scope: GeneratedReportScope,
  conversation: Conversation,
  { generator, delivery, hops }: GeneratedReports,
): Promise<readonly EndedTask[]> {
  const failed: EndedTask[] = []
  for (const part of splitDelivery(delivery, scope.config.reports.maxQueued)) {
    const request = toReportRequest(scope, conversation, part, hops)
    const { messageId, taskIds, groupId } = request
    announceReport(conversation, part)
    try {
      const text: unknown = await inTime(scope, async (signal) => {
        return generator({ ...request, toolContext: await readToolContext(scope, conversation) }, signal)
      })
      if (typeof text !== "string") throw new Error("the generator returned no text")
      await inTurn(conversation, () => keep(scope, conversation, part, { messageId, taskIds, groupId, hops }, text))
    } catch (error) {
      scope.log.warn("a report could not be made", { session: conversation.log.id, error: toErrorMessage(error) })
      const ended = endedIn(part)
      fallBack(scope, conversation, ended)
      failed.push(...ended)
    }
  }
  return failed
}

async function inTime(
  scope: Using<"clock" | "open"> & ReportScope,
  make: (signal: AbortSignal) => Promise<string>,
): Promise<string> {
  const limit = limitTime(scope, (message) => new Error(message))
  const signal = AbortSignal.any([limit.signal, scope.open.closing])
  try {
    return await unlessAborted(signal, make(signal))
  } finally {
    limit.release()
  }
}

async function keep(
  scope: ContextScope & Using<"open" | "store">,
  conversation: Conversation,
  part: Delivery,
  mark: ReportMark,
  text: string,
): Promise<void> {
  requireOpen(scope, conversation)
  const { log, emitter } = conversation
  await log.refresh()
  const unused = await readUnusedOf(scope, conversation, part)
  const pending = await usePending(scope, conversation, unused)
  if (endedIn(pending.delivery).length === 0) return
  const answer: Message = { role: "assistant", parts: [{ type: "text", text: text === "" ? NO_ANSWER : text }] }
  const messages = [userMessage(toPendingText(scope, conversation, pending)), answer]
  await log.write({
    entries: messages.map((message) => ({ kind: "message", message, turn: null, said: null })),
    ...toTold(conversation, pending, { wakes: (log.data.wakes ?? 0) + 1 }),
  })
  emitter.emit({ type: "agent.output", source: "model", text, mode: "write" })
  publishReport(conversation, mark, text)
  emitter.emit({ type: "history.updated", messages: log.history })
}

async function readUnusedOf(
  scope: Using<"store">,
  conversation: Conversation,
  part: Delivery,
): Promise<PendingContext> {
  const { delivery } = (await readPending(scope, conversation)) ?? { delivery: NOTHING_TO_TELL }
  const wanted = new Set(keysOf(part).map(toKeyText))
  const isWanted = ({ key }: { readonly key: EndedTask["key"] }): boolean => wanted.has(toKeyText(key))
  return {
    said: [],
    delivery: {
      ...keepEnded(delivery, isWanted),
      waiting: delivery.waiting.filter(isWanted),
      passed: delivery.passed.filter((key) => wanted.has(toKeyText(key))),
    },
  }
}

/**
 * One delivery for each group, and one for the single tasks together. Deliveries beyond `most` are joined with the last
 * one.
 */
function splitDelivery(delivery: Delivery, most: number): readonly Delivery[] {
  const { groups, passed } = delivery
  const single: Delivery = { ...delivery, groups: [] }
  const parts = groups.map((told): Delivery => ({ ...NOTHING_TO_TELL, groups: [told] }))
  const [first, ...others] = parts
  const withPassed = first ? [{ ...first, passed }, ...others] : []
  const all = isNothing(single) ? withPassed : [...parts, single]
  if (all.length <= most) return all
  const last = all.slice(most - 1).flatMap((one) => one.groups)
  return [...all.slice(0, most - 1), { ...single, groups: last }]
}
