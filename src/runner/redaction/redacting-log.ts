import type { JsonObject } from "../../base/json.ts"
import type { Log } from "../../plugin/context.ts"
import type { Redactor } from "./redactor.ts"

/** Takes secrets out of everything that the runner and tools log. */
export function createRedactingLog(log: Log, redactor: Redactor): Log {
  const write =
    (level: keyof Log) =>
    (message: string, fields?: JsonObject): void => {
      const text = redactor.redactText(message)
      if (fields) log[level](text, redactor.redactJson(fields).value as JsonObject)
      else log[level](text)
    }
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") }
}

const ignore = (): void => {}

export const silentLog: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
