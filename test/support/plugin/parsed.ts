import { describeIssues, parse, type Schema } from "../../../src/plugin/schema.ts"

/** What a tool's schema makes of an input. Throws with the mistakes of one that it does not take. */
export function parsed<Output>(schema: Schema<Output>, input: unknown): Output {
  const outcome = parse(schema, input)
  if (outcome.success) return outcome.data
  throw new Error(describeIssues(outcome.issues))
}
