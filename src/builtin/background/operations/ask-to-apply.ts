import type { JsonValue } from "../../../base/json.ts"
import { toVisibleText } from "../../../base/visible-text.ts"
import type { Question } from "../../../plugin/person-port.ts"
import type { Wait } from "../../../task/wait.ts"
import type { BackgroundCall } from "./background-call.ts"

export type ApplyAnswer =
  | { readonly isAllowed: true; readonly by: string }
  /** For the model. */
  | { readonly isAllowed: false; readonly reason: string }

const LONGEST_TEXT = 500
const LONGEST_DETAIL = 8_000
const IN_INBOX = "It stays as it is until the person decides in their inbox, and you are told what they decide."

/**
 * The person at the prompt decides about results that need a person's decision, whatever the policy allows: what
 * a model says is no approval. In the background nobody is asked a second time, since what the gate asks is in the
 * inbox.
 */
export async function askToApply({ context }: BackgroundCall, gate: Wait): Promise<ApplyAnswer> {
  const { person, signal } = context
  if (await person.isInbox?.()) return refuse("Nobody waits for what runs in the background.")
  const answer = await person.ask(toQuestion(gate), signal)
  if (!answer.isAnswered) return refuse(`Nobody said yes: ${answer.reason}.`)
  return answer.value === "yes" ? { isAllowed: true, by: answer.by } : refuse("The person said no.")
}

function refuse(why: string): ApplyAnswer {
  return { isAllowed: false, reason: `Nothing is applied. ${why} ${IN_INBOX}` }
}

function toQuestion({ question }: Wait): Question {
  const { text, detail } = typeof question === "object" && question !== null && "text" in question ? question : {}
  return {
    kind: "approval",
    text: toVisibleText(`The agent asks for it: ${toText(text)}`, LONGEST_TEXT),
    ...(detail !== undefined && { detail: toVisibleText(toText(detail), LONGEST_DETAIL) }),
  }
}

function toText(value: JsonValue = ""): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
