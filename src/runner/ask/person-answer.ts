import { MeanwhileError } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"

/** The meaning of an answer to the question. Anything else is refused as `invalid_input`. */
export function toPersonAnswer(question: Question, answer: JsonValue, by: string): PersonAnswer {
  const said = toText(answer)
  const value = said === "" && question.fallback !== undefined ? question.fallback : said && toValue(question, said)
  if (value) return { isAnswered: true, value, by }
  throw new MeanwhileError("invalid_input", `That is no answer to the question. Answer ${toExpected(question)}.`)
}

/**
 * The decision on an approval: true, false, or the words of a no that says why. Anything else is refused as
 * `invalid_input`: a word that is not understood must not count as a no, which is final.
 */
export function toDecision(answer: JsonValue): boolean | string {
  if (typeof answer === "boolean") return answer
  const said = typeof answer === "string" ? answer.trim() : ""
  const word = toYesOrNo(said)
  if (word !== undefined) return word === "yes"
  if (/^no?\b/i.test(said)) return said
  const message = 'That is no answer to an approval. Pass true or false, "yes" or "no", or "no, " and why.'
  throw new MeanwhileError("invalid_input", message)
}

/** The answer when nobody has answered in time: the question's own default. */
export function toDefaultAnswer({ fallback }: Question): PersonAnswer {
  if (fallback !== undefined) return { isAnswered: true, value: fallback, by: "default" }
  return { isAnswered: false, reason: "nobody answered in time" }
}

/** Undefined when the value cannot be read as words. */
function toText(answer: JsonValue): string | undefined {
  if (typeof answer === "boolean") return answer ? "yes" : "no"
  if (Array.isArray(answer)) return answer.every((one) => typeof one === "string") ? answer.join(", ") : undefined
  return typeof answer === "string" || typeof answer === "number" ? String(answer).trim() : undefined
}

function toValue({ kind, options = [], isMultiple, allowsText }: Question, said: string): string | undefined {
  if (kind === "approval") return toYesOrNo(said)
  if (kind === "text" || options.length === 0) return said
  const chosen = toChosen(options, isMultiple ? said.split(",") : [said])
  return chosen ?? (allowsText ? said : undefined)
}

function toYesOrNo(said: string): string | undefined {
  if (/^y(?:es)?$/i.test(said)) return "yes"
  return /^no?$/i.test(said) ? "no" : undefined
}

/** Undefined when one of the words is no option. */
function toChosen(options: readonly string[], said: readonly string[]): string | undefined {
  const chosen = said.map((one) => options.find((option) => option.trim().toLowerCase() === one.trim().toLowerCase()))
  return chosen.every((option) => option !== undefined) ? chosen.join(", ") : undefined
}

function toExpected({ kind, options = [], isMultiple }: Question): string {
  if (kind === "approval") return "yes or no"
  if (options.length === 0) return "in words"
  return `${isMultiple ? "any of" : "one of"} ${options.map((option) => JSON.stringify(option)).join(", ")}`
}
