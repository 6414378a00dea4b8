import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts"
import { MeanwhileError } from "../../base/error.ts"
import { fromStoredForm } from "../../plugin/output-schema.ts"
import { toldTools } from "../conversation/context.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import {
  type EffectiveSettings,
  joinSettings,
  type ModelSettings,
  NO_SETTINGS,
  readModelSettings,
  toStoredSettings,
} from "../conversation/model-settings.ts"

import { createTypedOutput, type TypedOutput } from "./typed-output.ts"

/** What one message asks of its turn, beside its words. */
export interface TurnAsk {
  readonly settings: ModelSettings
  readonly output: TypedOutput | null
}

const NOTHING_ASKED: TurnAsk = { settings: NO_SETTINGS, output: null }

/** For the process that goes on with the turn after a crash. It sees no secrets. */
export function toAskMetadata(redactor: Redactor, { settings, output }: TurnAsk): JsonObject {
  if (settings === NO_SETTINGS && output === null) return {}
  const form = output && { schema: output.form.schema, isWrapped: output.form.isWrapped }
  const ask = { settings: toStoredSettings(settings), ...(form && { output: form }) }
  return { ask: redactor.redactJson(ask).value }
}

export function readAskMetadata({ ask }: JsonObject): TurnAsk {
  return isJsonObject(ask)
    ? { settings: readModelSettings(ask["settings"]), output: readOutput(ask["output"]) }
    : NOTHING_ASKED
}

function readOutput(stored: JsonValue | undefined): TypedOutput | null {
  if (!isJsonObject(stored) || !isJsonObject(stored["schema"])) return null
  const { schema, isWrapped } = stored
  return createTypedOutput(fromStoredForm({ schema, isWrapped: isWrapped === true }))
}

/** The settings of this turn's model calls. */
export function settingsOf({ config }: Using<"config">, { log }: Conversation, ask: TurnAsk): EffectiveSettings {
  const { settings } = log.data
  return joinSettings(config.agent, settings ? readModelSettings(settings) : NO_SETTINGS, ask.settings)
}

/** Refuses a choice of tools that the session does not have. */
export function requireTools(scope: Using<"config" | "tools">, conversation: Conversation, ask: TurnAsk): void {
  const { toolChoice } = settingsOf(scope, conversation, ask)
  if (toolChoice === undefined || toolChoice === "auto" || toolChoice === "none") return
  const names = toldTools(scope, conversation).map(({ name }) => name)
  if (toolChoice === "required" ? names.length > 0 : names.includes(toolChoice.tool)) return
  const wanted = toolChoice === "required" ? "any tool" : `the tool ${toolChoice.tool}`
  const message = `toolChoice asks for ${wanted}, and this session has ${names.join(", ") || "none"}.`
  throw new MeanwhileError("unknown_tool", message, { toolChoice })
}
