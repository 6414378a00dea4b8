import type { JsonObject } from "../../base/json.ts"

/** The output of a command, and its exit code unless that is 0. Undefined if the text is no result of a command. */
export function toCommandText(text: string): string | undefined {
  const value = toObject(text)
  if (!value || !("exitCode" in value) || typeof value["output"] !== "string") return undefined
  const output = value["output"].trimEnd() || "(it printed nothing)"
  return value["exitCode"] === 0 ? output : `${output}\n(exit code ${JSON.stringify(value["exitCode"])})`
}

/** Only what the command printed; undefined if it printed nothing. */
export function toOutput(text: string): string | undefined {
  const output = toObject(text)?.["output"]
  return typeof output === "string" && output.trim() !== "" ? output.trimEnd() : undefined
}

/** Undefined when the text is no object. */
export function toObject(text: string): JsonObject | undefined {
  if (!text.startsWith("{")) return undefined
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return undefined
  }
}
