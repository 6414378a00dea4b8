import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import type { Grant, JudgedCall } from "./grants.ts"
import { toReasonOfNo } from "../../base/reason-of-no.ts"
import { toVisibleText } from "../../base/visible-text.ts"

/** Answers of a person at the prompt beside yes and no. */
export interface GrantChoice {
  readonly question: Question
  /** The meaning of the answer. Anything that is not one of the options is a no. */
  read(answer: PersonAnswer): ChosenGrant
}

export type ChosenGrant =
  | { readonly isAllowed: true; readonly grant: Grant["scope"] | null }
  | { readonly isAllowed: false; readonly reason: string }

const LONGEST_ANSWER = 200

/**
 * Only a session can be allowed something for later. `always` for every call is not offered for a command: one says
 * nothing about the next.
 */
export function toGrantChoice(approval: Question, call: JudgedCall, redact: (text: string) => string): GrantChoice {
  const { tool, likeness, effects, form } = call
  const hasSession = call.session !== null
  const scopes = new Map<string, Grant["scope"] | null>([["yes", null]])
  if (hasSession && likeness !== undefined) {
    scopes.set(`always in this session, for: ${toVisibleText(redact(likeness), LONGEST_ANSWER)}`, {
      kind: "alike",
      likeness,
      effects,
    })
  }
  if (hasSession && form === "call") scopes.set(`always in this session, for every call of ${tool}`, { kind: "tool" })
  const [yes = "yes", ...always] = scopes.keys()
  return {
    question: { ...approval, kind: "choice", isPermission: true, options: [yes, "no", ...always], fallback: "no" },
    read(answer) {
      if (!answer.isAnswered) return { isAllowed: false, reason: `nobody allowed it: ${answer.reason}` }
      const value = answer.value.trim()
      const grant = scopes.get(/^y(?:es)?$/i.test(value) ? yes : value)
      if (grant !== undefined) return { isAllowed: true, grant }
      const because = toReasonOfNo(value)
      const said = because === "" ? "" : `: ${toVisibleText(because, LONGEST_ANSWER)}`
      return { isAllowed: false, reason: `the person said no${said}` }
    },
  }
}
