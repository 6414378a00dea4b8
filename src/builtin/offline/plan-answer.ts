import type { ModelRequest } from "../../plugin/model.ts"
import { type Behaviour, createOfferedTools } from "./offered-tools.ts"
import { reportResult } from "./result-report.ts"
import { planAnswers } from "./sentence.ts"
import { tellNews } from "./task-news.ts"
import { callsOf, type FunctionCall, type Message, type ToolResult, textOf } from "../../plugin/message.ts"
import { readUserText, type UserText } from "./user-text.ts"
import { shortenMiddle } from "../../base/shorten.ts"

/** Everything that is decided about one call of the model. Pure: the same request has the same answer. */
export function planAnswer(request: ModelRequest): Behaviour {
  if (isSummaryRequest(request)) return { say: quoteConversation(request.messages) }
  const { results, calls, notices, news, words, answers } = hear(request.messages)
  const reports = [
    ...results.map((result) => reportResult(result, calls.get(result.callId))),
    ...[...notices, ...news].map(tellNews),
  ]
  const isAsked = words !== null && answers !== null
  const planned = isAsked ? planAnswers(words, createOfferedTools(request.tools))[answers] : undefined
  const say = [...reports, ...(planned?.say === undefined ? [] : [planned.say])].join("\n\n")
  if (say === "" && !planned) return { say: "There is nothing new that I could answer." }
  return { ...planned, ...(say !== "" && { say }) }
}

/** Messages since the model last spoke. */
interface Heard {
  readonly results: readonly ToolResult[]
  /** The calls of its last answer, by id. */
  readonly calls: ReadonlyMap<string, FunctionCall>
  readonly notices: readonly string[]
  /** Results of tasks that the model should report unasked. */
  readonly news: readonly string[]
  /** The person's last words, answered or not; null when there are none. */
  readonly words: string | null
  /** How many answers it has given since those words; null when it speaks of something else by now. */
  readonly answers: number | null
}

function hear(messages: readonly Message[]): Heard {
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant")
  const fresh = messages.slice(lastAnswer + 1)
  const answer = messages[lastAnswer]
  const lastWords = messages.findLastIndex((message) => userTextOf(message).words !== "")
  const spoken = messages[lastWords]
  const since = messages.slice(lastWords + 1)
  const hasNews = since.some((message) => userTextOf(message).results !== null)
  return {
    results: fresh.flatMap((message) => (message.role === "tool" ? message.parts : [])),
    calls: new Map((answer ? callsOf(answer) : []).map((call) => [call.id, call])),
    notices: fresh.flatMap((message) => userTextOf(message).notices),
    news: fresh.flatMap((message) => userTextOf(message).results ?? []),
    words: spoken ? userTextOf(spoken).words : null,
    answers: hasNews ? null : since.filter(({ role }) => role === "assistant").length,
  }
}

const SILENCE: UserText = { words: "", notices: [], results: null }

function userTextOf(message: Message): UserText {
  return message.role === "user" ? readUserText(message.parts) : SILENCE
}

const HEAD_LINES = 3
const TAIL_LINES = 12
const LONGEST_LINE = 200

/** A request about a conversation rather than in one: its system text asks for a summary and no tool is offered. */
function isSummaryRequest({ system, tools }: ModelRequest): boolean {
  return tools.length === 0 && /\bsummar(?:y|i[sz]e)\b/i.test(system)
}

/** The model cannot tell what matters, so it quotes the beginning and the end. */
function quoteConversation(messages: readonly Message[]): string {
  const lines = messages
    .flatMap((message) => textOf(message).split("\n"))
    .map(toPlainLine)
    .filter((line) => line !== "")
  const isLong = lines.length > HEAD_LINES + TAIL_LINES
  const head = isLong ? lines.slice(0, HEAD_LINES) : lines
  const tail = isLong ? [`(${lines.length - HEAD_LINES - TAIL_LINES} lines left out)`, ...lines.slice(-TAIL_LINES)] : []
  return ["The offline model quotes what it cannot sum up:", ...head, ...tail].join("\n")
}

/** A line of a transcript in JSON as its values. */
function toPlainLine(line: string): string {
  return shortenMiddle(toValues(line).join(": ").replace(/\s+/g, " ").trim(), LONGEST_LINE)
}

function toValues(line: string): readonly string[] {
  if (!line.startsWith("{")) return [line]
  try {
    return Object.values(JSON.parse(line) as Record<string, unknown>).filter((value) => typeof value === "string")
  } catch {
    return [line]
  }
}
