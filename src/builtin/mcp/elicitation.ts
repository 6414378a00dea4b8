import { z } from "zod"
import type { JsonObject, JsonValue } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { toVisibleText } from "../../base/visible-text.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { ServerRefusal, type InputRequests } from "./connection.ts"
import { type Field, fieldSchema, readField, toFieldQuestion } from "./elicitation-field.ts"

const TRIES = 3
const METHOD_NOT_FOUND = -32_601

const form = lazily(() =>
  z.looseObject({
    message: z.string().default(""),
    mode: z.string().default("form"),
    requestedSchema: z
      .looseObject({
        properties: z.record(z.string(), fieldSchema()).default({}),
        required: z.array(z.string()).default([]),
      })
      .default({ properties: {}, required: [] }),
  }),
)

const LONGEST_MESSAGE = 2_000
const DECLINED: JsonObject = { action: "decline" }

type Asking = Pick<ToolContext, "person" | "signal">

/** Puts a server's question to the person, field by field. Whatever stands in the way, the server is told "declined". */
export async function elicit(server: string, params: JsonObject, asking: Asking): Promise<JsonObject> {
  const parsed = form().safeParse(params)
  if (!parsed.success || parsed.data.mode !== "form") return DECLINED
  const { message, requestedSchema } = parsed.data
  const fields = Object.entries(requestedSchema.properties)
  const text = `The MCP server ${server} asks: ${toVisibleText(message, LONGEST_MESSAGE)}`
  if (fields.length === 0) return (await approve(text, asking)) ? { action: "accept", content: {} } : DECLINED
  const content: Record<string, JsonValue> = {}
  for (const [name, field] of fields) {
    const isRequired = requestedSchema.required.includes(name)
    const value = await askField(toFieldQuestion(text, name, field, isRequired), field, isRequired, asking)
    if (value === undefined) return DECLINED
    if (value !== null) content[name] = value
  }
  return { action: "accept", content }
}

/** The answers to what a server of the second generation requires, by key. */
export async function answerRequests(server: string, requests: InputRequests, asking: Asking): Promise<JsonObject> {
  const answers: Record<string, JsonValue> = {}
  for (const [key, { method, params }] of Object.entries(requests)) {
    if (method !== "elicitation/create") {
      throw new ServerRefusal(METHOD_NOT_FOUND, `it asks for ${method}, which Meanwhile does not offer to servers`)
    }
    answers[key] = await elicit(server, params ?? {}, asking)
  }
  return answers
}

async function approve(text: string, asking: Asking): Promise<boolean> {
  const answer = await ask({ kind: "approval", text }, asking)
  return answer.isAnswered && /^(y|yes|true|ok|approve|allow)$/i.test(answer.value.trim())
}

/** Undefined: nobody gave a valid answer; null: the person left the field out. */
async function askField(
  question: Question,
  field: Field,
  isRequired: boolean,
  asking: Asking,
): Promise<JsonValue | undefined> {
  let problem = ""
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const text = problem === "" ? question.text : `${question.text} (${problem})`
    const answer = await ask({ ...question, text }, asking)
    if (!answer.isAnswered) return undefined
    if (answer.value.trim() === "" && !isRequired) return null
    const read = readField(field, answer.value)
    if ("value" in read) return read.value
    problem = read.problem
  }
  return undefined
}

/** Counts a failure to ask, such as no person to ask, as no answer. */
async function ask(question: Question, { person, signal }: Asking): Promise<PersonAnswer> {
  try {
    return await person.ask(question, signal)
  } catch (error) {
    signal.throwIfAborted()
    return { isAnswered: false, reason: String(error) }
  }
}
