import type { JsonValue } from "../../base/json.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import { isSecretField } from "../../runner/redaction/secret-names.ts"

/**
 * The input of a call as people see it while it runs. Texts are redacted as in a question, so that they hide no command; fields
 * are hidden by their name, as in records.
 */
export function toShownInput(redactor: Pick<Redactor, "redactShown">, input: JsonValue): JsonValue {
  const toShown = (value: JsonValue, name = ""): JsonValue => {
    if (typeof value === "string") return isSecretField(name, value) ? "[redacted]" : redactor.redactShown(value)
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map((item: JsonValue) => toShown(item, name))
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, toShown(field, key)]))
  }
  return toShown(input)
}
