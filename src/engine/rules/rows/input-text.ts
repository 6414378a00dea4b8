import type { JsonObject } from "../../../base/json.ts"
import type { TaskDetails } from "../../../task/record.ts"

/** Input and metadata as they are written. */
export interface InputText {
  readonly input: string
  readonly metadata: string
}

export function toInputText(details: TaskDetails): InputText {
  return { input: JSON.stringify(details.input), metadata: JSON.stringify(details.metadata) }
}

export function parseInput(text: InputText): Pick<TaskDetails, "input" | "metadata"> {
  const metadata = text.metadata === "{}" ? {} : (JSON.parse(text.metadata) as JsonObject)
  return { input: JSON.parse(text.input) as TaskDetails["input"], metadata }
}
