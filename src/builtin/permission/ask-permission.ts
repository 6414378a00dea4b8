import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { parse, toPath } from "../../plugin/schema.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { withoutOwnFields } from "../../plugin/input-schema.ts"
import { toQuestion } from "./permission-question.ts"
import { addGrant, type JudgedCall, judge, type PermissionScope, toJudgedCall } from "./grants.ts"
import { toQuotedText } from "../../base/quoted-text.ts"
import { toVisibleText } from "../../base/visible-text.ts"

/** Finds a tool by its name. Refused with the reason when there is none. */
export type FindTool = (name: string) => { readonly plugin: string; readonly tool: Tool }

export const ASK_PERMISSION = "askPermission"
const ANSWER_TIMEOUT_MS = 60 * 60 * 1000
const LONGEST_REASON = 500

const inputSchema = lazily(() =>
  z.strictObject({
    tool: z.string().min(1).describe("The tool you want to use."),
    reason: z.string().min(1).describe("Why, in one sentence. The person reads it."),
    input: z
      .unknown()
      .optional()
      .describe("The input of the one call you want to make. Without it, every call is asked for."),
  }),
)

/** Lets the model ask ahead, so that a person is asked once and not in the middle of the work. */
export function createAskPermission(scope: PermissionScope, findTool: FindTool): Tool {
  return defineTool({
    name: ASK_PERMISSION,
    background: { mode: "never" },
    description:
      "Asks the person ahead for permission to use a tool in this session, or to make one call of it. The answer is " +
      "theirs: after a no, do not try to get the same done in another way.",
    input: inputSchema(),
    timeoutMs: ANSWER_TIMEOUT_MS,
    onCrash: "retry",
    title: ({ tool }) => `asks to use ${tool}`,
    run: (asked, context) => askAhead(scope, findTool, asked, context),
  })
}

async function askAhead(
  scope: PermissionScope,
  findTool: FindTool,
  asked: z.output<ReturnType<typeof inputSchema>>,
  context: ToolContext,
): Promise<JsonValue> {
  if (context.session === null) {
    throw new MeanwhileError("wrong_state", "Permission is given to a session, and this call belongs to none.")
  }
  const { plugin, tool: definition } = findTool(asked.tool)
  const isOneCall = asked.input !== undefined
  const value = isOneCall ? parseInput(definition, asked.input) : {}
  const call = toJudgedCall(scope, { plugin, tool: definition.name, input: value, definition }, context.session)
  // If a tool's effects depend on its input, "every call" has no known effects.
  const dependsOnInput = !isOneCall && typeof definition.effects === "function"
  const verdict = judge(scope, dependsOnInput ? { ...call, effects: ["unknown"] } : call)
  if (verdict.decision === "allow") return { isGranted: true, reason: "it is allowed already" }
  if (verdict.decision === "deny") return { isGranted: false, reason: verdict.reason }
  const question = await toAheadQuestion(scope, call, isOneCall, asked.reason)
  const answer = await ask(scope, question, context)
  if (!answer.isAnswered) return { isGranted: false, reason: `nobody allowed it: ${answer.reason}` }
  if (!/^y(?:es)?$/i.test(answer.value.trim())) return { isGranted: false, reason: "the person said no" }
  addGrant(scope, call, isOneCall ? { kind: "call", input: JSON.stringify(value) } : { kind: "tool" })
  return { isGranted: true, reason: isOneCall ? "for this call, in this session" : "for every call, in this session" }
}

/** Puts one question at a time to a person at the prompt; the inbox takes any number. */
async function ask(scope: PermissionScope, question: Question, context: ToolContext): Promise<PersonAnswer> {
  const { person, signal } = context
  if (await person.isInbox?.()) return person.ask(question, signal)
  return scope.queue.take(signal, () => person.ask(question, signal))
}

function parseInput(definition: Tool, value: unknown): unknown {
  const parsed = parse(definition.input, withoutOwnFields(definition.input, value))
  if (parsed.success) return parsed.data
  const problems = parsed.issues.map((issue) => `${toPath(issue).join(".")}: ${issue.message}`)
  throw new MeanwhileError("invalid_input", `${definition.name} does not take that input: ${problems.join("; ")}.`)
}

async function toAheadQuestion(
  scope: PermissionScope,
  call: JudgedCall,
  isOneCall: boolean,
  reason: string,
): Promise<Question> {
  const said = `The agent says:\n${toQuotedText(toVisibleText(scope.redact(reason), LONGEST_REASON))}`
  const options = { kind: "approval", isPermission: true, options: ["yes", "no"], fallback: "no" } as const
  if (!isOneCall) {
    const whatever = call.form === "call" ? "" : ", whatever it does"
    const text = `Allow every call of ${call.tool} in this session${whatever}?`
    return { ...options, text, detail: `Tool ${call.tool} of plugin ${call.plugin}\n${said}` }
  }
  const question = await toQuestion(call, scope.redact)
  return {
    ...question,
    ...options,
    text: `${question.text} For this call, in this session.`,
    detail: `${question.detail}\n${said}`,
  }
}
