import { MeanwhileError } from "../../../src/base/error.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import type { Message, Part } from "../../../src/plugin/message.ts"
import type { ModelRequest } from "../../../src/plugin/model.ts"
import { findHistoryProblems } from "./history-problems.ts"

export interface CountingModel {
  readonly script: Iterable<ScriptStep>
  /** The size of each request, as this model counts tokens. */
  readonly counts: readonly number[]
  /** Problems of requests that a strict provider would refuse. */
  readonly problems: readonly string[]
}

/** A model that counts tokens in its own way. It calls `read` once for every message of the person, then answers. */
export function createCountingModel(limitTokens: number): CountingModel {
  const counts: number[] = []
  const problems: string[] = []

  function answer(request: ModelRequest): ScriptStep {
    const inputTokens = count(request)
    counts.push(inputTokens)
    problems.push(...findHistoryProblems(request.messages))
    if (inputTokens > limitTokens) throw new MeanwhileError("context_overflow", `${inputTokens} tokens are too many.`)
    const usage = { inputTokens, outputTokens: 40 }
    if (request.tools.length === 0) return { text: "They talked about pages.", usage }
    const hasRead = request.messages.at(-1)?.role === "tool"
    if (hasRead) return { text: `I have read it. ${"And so on. ".repeat(8)}`, usage }
    return { calls: [{ tool: "read", input: { page: counts.length } }], usage }
  }

  return { script: repeat(answer), counts, problems }
}

function* repeat(step: ScriptStep): Generator<ScriptStep> {
  for (;;) yield step
}

/** Counts unlike the runtime's estimate: by characters, with a cost for every message and every tool. */
function count({ system, messages, tools }: ModelRequest): number {
  const told = tools.map(({ name, description, inputSchema }) => name + description + JSON.stringify(inputSchema))
  const said = messages.reduce((sum, message) => sum + countMessage(message), 0)
  return Math.ceil((system.length + told.join("").length) / 4) + said
}

function countMessage({ parts }: Message): number {
  return 6 + parts.reduce((sum, part) => sum + Math.ceil(toText(part).length / 3.8), 0)
}

function toText(part: Part): string {
  if (part.type === "text" || part.type === "reasoning") return part.text
  if (part.type === "call") return part.tool + JSON.stringify(part.input)
  return part.type === "result" ? part.content.map(toText).join("") : ""
}
