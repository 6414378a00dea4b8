import type { JsonObject } from "../../base/json.ts"

export interface PlannedCall {
  readonly tool: string
  readonly input: JsonObject
}

/** The model's reaction to one sentence. */
export interface Behaviour {
  readonly think?: string
  readonly say?: string
  /** Between two words. Default: none. */
  readonly paceMs?: number
  readonly calls?: readonly PlannedCall[]
}
