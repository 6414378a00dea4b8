import { MeanwhileError } from "../../base/error.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import { shorten } from "../../base/shorten.ts"
import { type Message, textOf } from "../../plugin/message.ts"
import type { OutputForm } from "../../plugin/output-schema.ts"
import type { TurnResult } from "../conversation/session.ts"
import type { LogEntry } from "../log/log-entry.ts"
import type { ModelAnswer, TurnScope } from "./turn-scope.ts"

/** What is wrong with the turn's last answer; null if nothing is, or no form was asked for. */
export async function findProblem({ ask, turn }: TurnScope, { message, record }: ModelAnswer): Promise<string | null> {
  if (!ask.output) return null
  const checked = await unlessAborted(turn.signal, ask.output.form.check(textOf(message)))
  if (checked.isValid) return null
  return record.finish === "length"
    ? `it was cut off at the longest answer allowed; ${checked.problem}`
    : checked.problem
}

const MARK = "meanwhile"
const PROBLEM_CHARACTERS = 2_000

/**
 * The message that tells the model, once in a turn, what is wrong with its answer; the second time the answer is refused. The
 * message says whose turn it belongs to, so that the process that goes on with the turn after a crash counts it.
 */
export function toAgain(scope: TurnScope, answer: ModelAnswer, problem: string): LogEntry {
  const { turn, account, conversation } = scope
  const isAsked = conversation.log.history.some((said) => hasMark(said, turn.id))
  if (isAsked || account.isAskedAgain) {
    account.refused = answer
    throw toOutputError(answer.record.model, textOf(answer.message), problem)
  }
  account.isAskedAgain = true
  const text = `[Meanwhile: your answer does not have the form that was asked for: ${shorten(problem, PROBLEM_CHARACTERS)}. Give the whole answer again, in that form.]`
  const metadata = { [MARK]: { askedAgain: turn.id } }
  const message: Message = { role: "user", parts: [{ type: "text", text, metadata }] }
  return { kind: "message", message, turn: turn.id, said: null }
}

function hasMark({ role, parts }: Message, turn: string | null): boolean {
  if (turn === null || role !== "user") return false
  const mark = parts[0]?.metadata?.[MARK]
  return typeof mark === "object" && mark !== null && "askedAgain" in mark && mark["askedAgain"] === turn
}

/** The refusal of an answer without the form that was asked for. It holds the answer as it is. */
export function toOutputError(model: string, text: string, problem: string): MeanwhileError {
  const message = `${model} did not answer in the form that was asked for: ${shorten(problem, PROBLEM_CHARACTERS)}. Its answer is in details.text.`
  return new MeanwhileError("output_invalid", message, { model, text, problem })
}

/** The checked value of a turn that has ended. A stopped turn has none. */
export async function toTypedResult<Output, Result extends TurnResult>(
  result: Result,
  form: OutputForm<Output>,
): Promise<Result & { readonly output: Output }> {
  const { outcome, text, turn, accounting } = result
  if (outcome === "stopped") {
    throw new MeanwhileError("closed", "The turn was stopped before it had its answer.", { turn, text })
  }
  const checked = await form.check(text)
  if (!checked.isValid) throw toOutputError(accounting.model, text, checked.problem)
  return { ...result, output: checked.output }
}
