import { z } from "zod"
import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts"
import { toJsonSchema } from "./json-schema.ts"
import { isSchema, type Schema, toPath } from "./schema.ts"

/** The schema of a typed answer, of any library that speaks Standard Schema. */
export type OutputSchema<Output> = Schema<Output>

/** The form of a typed answer: as models are told it, and as an answer is checked. */
export interface OutputForm<Output = unknown> {
  /** JSON Schema of an object: models answer with nothing else. */
  readonly schema: JsonObject
  /** True if the answer is the property `value` of that object, because the schema is no object's. */
  readonly isWrapped: boolean
  check(text: string): Promise<CheckedOutput<Output>>
}

export type CheckedOutput<Output> =
  | { readonly isValid: true; readonly output: Output }
  /** What is wrong, in words for the model. */
  | { readonly isValid: false; readonly problem: string }

type StoredForm = Pick<OutputForm, "schema" | "isWrapped">

/** Refused as `invalid_input` if the schema cannot be told as JSON Schema. */
export function toOutputForm<Output>(output: OutputSchema<Output>): OutputForm<Output> {
  const schema = tellOutput(output)
  const isWrapped = schema["type"] !== "object"
  return toForm({ schema: isWrapped ? wrap(schema) : schema, isWrapped }, output)
}

/** The form as another process has stored it: by its JSON Schema alone, without what only code can check. */
export function fromStoredForm({ schema, isWrapped }: StoredForm): OutputForm {
  const { properties } = schema
  const value = isWrapped && isJsonObject(properties) ? properties[VALUE] : undefined
  const inner = isJsonObject(value) ? { ...value, ...definitionsOf(schema) } : schema
  return toForm({ schema, isWrapped }, fromJsonSchema(inner))
}

/** References lead from the root, which is the wrapper from now on. */
function wrap(schema: JsonObject): JsonObject {
  const { $defs = {}, ...inner } = schema
  const told = { type: "object", properties: { [VALUE]: inner }, required: [VALUE], ...definitionsOf(schema) }
  const text = JSON.stringify(told)
  if (!text.includes(ROOT) || !isJsonObject($defs)) return told
  const whole = { ...told, properties: { [VALUE]: { $ref: "#/$defs/whole" } }, $defs: { ...$defs, whole: inner } }
  return JSON.parse(JSON.stringify(whole).replaceAll(ROOT, '"$ref":"#/$defs/whole"')) as JsonObject
}

function definitionsOf({ $defs }: JsonObject): JsonObject {
  return $defs === undefined ? {} : { $defs }
}

/** A schema that holds itself. */
const ROOT = '"$ref":"#"'

const VALUE = "value"
const MOST_PROBLEMS = 10

function toForm<Output>({ schema, isWrapped }: StoredForm, output: OutputSchema<Output>): OutputForm<Output> {
  let last: { readonly text: string; readonly checked: Promise<CheckedOutput<Output>> } | undefined
  return {
    schema,
    isWrapped,
    /** Checks the same text once: a schema may look elsewhere, and must not change its mind. */
    check(text) {
      if (last?.text !== text) last = { text, checked: check(text) }
      return last.checked
    },
  }
  async function check(text: string): Promise<CheckedOutput<Output>> {
    const read = readJson(text)
    if (typeof read === "string") return { isValid: false, problem: read }
    const { value } = read
    const answer = isWrapped && isJsonObject(value) && VALUE in value ? value[VALUE] : value
    const checked = await output["~standard"].validate(answer)
    if (!checked.issues) return { isValid: true, output: checked.value }
    const problems = checked.issues.slice(0, MOST_PROBLEMS).map((issue) => {
      const path = toPath(issue).map(String)
      return path.length > 0 ? `${path.join(".")}: ${issue.message}` : issue.message
    })
    return { isValid: false, problem: problems.join("; ") }
  }
}

const FENCED = /^```(?:json)?\s*\n([^]*?)\n?```$/

/** Some models put a fence around JSON whatever they are told. Returns what is wrong if the text is no JSON. */
function readJson(text: string): { readonly value: JsonValue } | string {
  const bare = FENCED.exec(text.trim())?.[1] ?? text
  try {
    return { value: JSON.parse(bare) as JsonValue }
  } catch (error) {
    return `it is not JSON (${toErrorMessage(error)})`
  }
}

function tellOutput(output: Schema): JsonObject {
  try {
    if (!isSchema(output)) throw new Error("it is no schema of zod 4, valibot, arktype or another Standard Schema")
    return toJsonSchema(output)
  } catch (error) {
    const message = `The schema of the output cannot be told as JSON Schema: ${toErrorMessage(error)}.`
    throw new MeanwhileError("invalid_input", message, { option: "output" }, { cause: error })
  }
}

/** Any JSON will do where the schema cannot be read back, as by a zod before 4.2. */
function fromJsonSchema(schema: JsonObject): Schema {
  try {
    const { fromJSONSchema }: Partial<typeof z> = z
    return fromJSONSchema ? fromJSONSchema(schema) : z.json()
  } catch {
    return z.json()
  }
}
