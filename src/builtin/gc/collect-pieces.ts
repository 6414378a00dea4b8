import { toErrorMessage } from "../../base/error.ts"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { Collection, CollectionContext, GcConfig } from "../../plugin/gc-plugin.ts"
import type { Message } from "../../plugin/message.ts"
import { type Budget, type EstimateTokens, sumTokens, toBudget } from "./budget.ts"
import type { GC_STRATEGIES, GcSettings } from "./gc-config.ts"
import { type Lead, leadOf, toLeadMessage } from "./lead.ts"
import { type Plan, planCollection } from "./plan.ts"
import { toMessages, toPieces } from "./piece.ts"
import { shortenText } from "./shorten.ts"
import { summarize } from "./summarize.ts"

export type GcStrategy = Exclude<(typeof GC_STRATEGIES)[number], "none">

export interface CollectionRequest {
  readonly messages: readonly Message[]
  readonly usage: ContextUsage
  readonly config: GcConfig
  readonly context: CollectionContext
  readonly settings: GcSettings
  readonly strategy: GcStrategy
}

/** The message put in front, and the text for the person. */
interface Replacement {
  readonly lead: Lead
  readonly report: string
}

const LEAD_SHARE = 4
/** The lines above a summary. */
const HEADING_TOKENS = 40
const FEWEST_SUMMARY_TOKENS = 16
const LONGEST_REASON = 200

export async function collectPieces(request: CollectionRequest): Promise<Collection> {
  const { messages, usage, config, context, settings, strategy } = request
  const estimate: EstimateTokens = (message) => context.estimateTokens(message)
  const budget = toBudget(messages, usage, config, estimate)
  if (budget.takenTokens <= budget.targetTokens) {
    const size = `about ${toCount(budget.takenTokens)} tokens, within the target of ${toCount(budget.targetTokens)}`
    return { messages, removedMessages: 0, summary: `Nothing was removed: the conversation takes ${size}.` }
  }
  const { leads, pieces } = toPieces(messages)
  const leadTokens = toLeadTokens(request, leads, budget, estimate)
  const plan = planCollection({
    pieces,
    targetTokens: Math.max(0, budget.targetTokens - leadTokens),
    estimate,
    settings,
    removes: strategy === "truncate" ? "needed" : "all",
  })
  const removedMessages = toMessages([...plan.removedTurns.flat(), ...plan.removedExchanges]).length
  const replacement = removedMessages > 0 ? await replace(request, plan, leads, { ...budget, leadTokens }) : undefined
  const leadMessages = replacement
    ? [toFittingMessage(replacement.lead, leadTokens, estimate)]
    : messages.filter((message) => leadOf(message))
  const first = toMessages(plan.first)
  const recent = toMessages(plan.recent)
  // The lead never comes last: the model answers the last message.
  const kept = recent.length > 0 ? [...first, ...leadMessages, ...recent] : [...leadMessages, ...first]
  const report = replacement?.report ?? "Shortened long messages"
  const change = `about ${toCount(budget.takenTokens)} tokens became ${toCount(sumTokens(kept, estimate))}`
  return { messages: kept, removedMessages, summary: `${report}; ${change}.` }
}

async function replace(
  { context, settings, strategy }: CollectionRequest,
  plan: Plan,
  leads: readonly Lead[],
  { chunkTokens, leadTokens }: Budget & { readonly leadTokens: number },
): Promise<Replacement> {
  const droppedTurns = strategy === "hybrid" ? plan.removedTurns.slice(0, -settings.middleTurns) : []
  const dropped = toMessages(droppedTurns.flat())
  const covered = toMessages([...plan.removedTurns.slice(droppedTurns.length).flat(), ...plan.removedExchanges])
  const all = `${dropped.length + covered.length} messages`
  if (strategy === "truncate") return { lead: toGapLead(leads), report: `Removed ${all}` }
  const summaries = leads.filter((lead) => lead.kind === "summary")
  const earlier = summaries.map(({ text }) => text)
  const summaryTokens = Math.max(FEWEST_SUMMARY_TOKENS, leadTokens - HEADING_TOKENS)
  try {
    const text = await summarize({ messages: covered, earlier, chunkTokens, summaryTokens, context })
    const hasGap = dropped.length > 0 || leads.some((lead) => lead.kind === "note" || lead.hasGap)
    const also = dropped.length > 0 ? ` and removed ${dropped.length} older ones` : ""
    return { lead: { kind: "summary", text, hasGap }, report: `Summarised ${covered.length} messages${also}` }
  } catch (error) {
    context.signal.throwIfAborted()
    const reason = shortenText(toErrorMessage(error), LONGEST_REASON)
    return {
      lead: toGapLead(leads),
      report: `Removed ${all} without a summary, which the model failed to write (${reason})`,
    }
  }
}

/** A placeholder for messages removed without a summary: an earlier summary stays. */
function toGapLead(leads: readonly Lead[]): Lead {
  const summaries = leads.filter((lead) => lead.kind === "summary")
  if (summaries.length === 0) return { kind: "note" }
  return { kind: "summary", text: summaries.map(({ text }) => text).join("\n"), hasGap: true }
}

/** Tokens for the lead: those of a note, or for a summary up to a quarter of what the conversation may take. */
function toLeadTokens(
  { settings, strategy }: CollectionRequest,
  leads: readonly Lead[],
  { targetTokens, chunkTokens }: Budget,
  estimate: EstimateTokens,
): number {
  const noteTokens = estimate(toLeadMessage({ kind: "note" }))
  if (strategy === "truncate" && leads.every(({ kind }) => kind === "note")) return noteTokens
  const share = Math.floor(Math.min(targetTokens, chunkTokens) / LEAD_SHARE)
  return Math.max(noteTokens, Math.min(settings.summaryMaxTokens, share))
}

/** Cuts a summary until it fits its room: models write longer than they are asked to. */
function toFittingMessage(lead: Lead, mostTokens: number, estimate: EstimateTokens): Message {
  let message = toLeadMessage(lead)
  if (lead.kind === "note") return message
  let { text } = lead
  while (text !== "" && estimate(message) > mostTokens) {
    const length = Math.floor(Math.min(text.length * 0.9, (text.length * mostTokens) / estimate(message)))
    text = shortenText(lead.text, length)
    message = toLeadMessage({ ...lead, text })
  }
  return message
}

/** `128000` as `128,000`. */
export function toCount(value: number): string {
  return Math.round(value).toLocaleString("en-US")
}
