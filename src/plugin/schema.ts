import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import { MeanwhileError } from "../base/error.ts"
import { type JsonObject, toJson } from "../base/json.ts"

/** A schema of any library that speaks Standard Schema: zod 4, valibot, arktype and others. */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output>

export type Parsed<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly issues: readonly StandardSchemaV1.Issue[] }

export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false
  const standard: unknown = Reflect.get(value, "~standard")
  return typeof standard === "object" && standard !== null && typeof Reflect.get(standard, "validate") === "function"
}

/** A schema for what is described as JSON Schema already, checked by a function of its own. */
export function createSchema<Output>(
  told: JsonObject,
  validate: (value: unknown) => StandardSchemaV1.Result<Output>,
): Schema<Output> {
  const jsonSchema = { input: () => told, output: () => told }
  const standard: StandardSchemaV1.Props<unknown, Output> & StandardJSONSchemaV1.Props<unknown, Output> = {
    version: 1,
    vendor: "meanwhile",
    validate,
    jsonSchema,
  }
  return { "~standard": standard }
}

/** Refused as `invalid_input` for a schema that answers later: a call is admitted, stored and shown without waiting for it. */
export function parse<Output>(schema: Schema<Output>, value: unknown): Parsed<Output> {
  const result = schema["~standard"].validate(value)
  if ("then" in result) {
    Promise.resolve(result).catch(() => undefined)
    throw new MeanwhileError(
      "invalid_input",
      "The schema checks asynchronously. Check that part in the code that uses the value.",
    )
  }
  return result.issues ? { success: false, issues: result.issues } : { success: true, data: result.value }
}

/** What the schema takes, in the words of its own library; undefined if that library writes no JSON Schema. */
export function ownJsonSchema(schema: Schema): JsonObject | undefined {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema["~standard"]
  if (standard.jsonSchema === undefined) return undefined
  const { $schema: _, ...told } = standard.jsonSchema.input({ target: "draft-2020-12" })
  return toJson(told) as JsonObject
}

/** True for the schemas of zod 4, of every minor version and of `zod/mini`. */
export function isZod(schema: Schema): boolean {
  return "_zod" in schema
}

const ADVICE: Readonly<Record<string, string>> = {
  zod: "Use zod 4",
  valibot: "Wrap it in toStandardJsonSchema of @valibot/to-json-schema",
}

/** Why a model cannot be told what the schema takes. */
export function toUntold(schema: Schema): Error {
  const { vendor } = schema["~standard"]
  const advice = ADVICE[vendor] ?? "Use one that implements Standard JSON Schema"
  return new Error(`this schema of ${vendor} has no JSON Schema that a model could be told. ${advice}`)
}

/** Every mistake on a line of its own, with the place it is in: those nearest to the top first. */
export function describeIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  return issues
    .map((issue) => ({ message: issue.message, path: toPath(issue) }))
    .toSorted((one, other) => one.path.length - other.path.length)
    .map(({ message, path }) => (path.length === 0 ? `✖ ${message}` : `✖ ${message}\n  → at ${toPathText(path)}`))
    .join("\n")
}

export function toPath({ path = [] }: StandardSchemaV1.Issue): readonly PropertyKey[] {
  return path.map((segment) => (typeof segment === "object" ? segment.key : segment))
}

const NAME = /^[A-Za-z_$][\w$]*$/

function toPathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`
    if (!NAME.test(String(key))) return `${text}[${JSON.stringify(String(key))}]`
    return text === "" ? String(key) : `${text}.${String(key)}`
  }, "")
}
