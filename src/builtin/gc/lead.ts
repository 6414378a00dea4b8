import type { Message } from "../../plugin/message.ts"

export const NOTE_TEXT =
  "[Earlier messages were removed to make room in the context window. What they said is no longer known here: look again, or ask, where it matters.]"
const SUMMARY_HEADING = "[Summary of the conversation so far]"
const GAP_TEXT = "[Older messages were removed without a summary.]"

/** The message in front that stands for what was removed. */
export type Lead =
  | { readonly kind: "note" }
  /** `hasGap`: it does not cover all that was removed. */
  | { readonly kind: "summary"; readonly text: string; readonly hasGap: boolean }

const MARK = "meanwhile"

/** The mark is in the metadata, which nobody can type: a message that only reads like a lead does not count as one. */
export function toLeadMessage(lead: Lead): Message {
  const mark = { [MARK]: { lead: lead.kind, ...(lead.kind === "summary" && { hasGap: lead.hasGap }) } }
  return { role: "user", parts: [{ type: "text", text: toText(lead), metadata: mark }] }
}

/** Undefined for every other message. */
export function leadOf({ role, parts }: Message): Lead | undefined {
  const [part] = parts
  if (role !== "user" || part?.type !== "text") return undefined
  const mark = part.metadata?.[MARK]
  if (typeof mark !== "object" || mark === null || !("lead" in mark)) return undefined
  if (mark["lead"] !== "summary") return { kind: "note" }
  const hasGap = mark["hasGap"] === true
  const head = toText({ kind: "summary", text: "", hasGap })
  return { kind: "summary", text: part.text.slice(head.length), hasGap }
}

function toText(lead: Lead): string {
  if (lead.kind === "note") return NOTE_TEXT
  return `${SUMMARY_HEADING}\n${lead.hasGap ? `${GAP_TEXT}\n` : ""}${lead.text}`
}
