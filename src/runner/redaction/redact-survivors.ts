import type { Survivors } from "../../task/stop.ts"
import type { Redactor } from "./redactor.ts"

/** A command line may hold a secret, and is stored and shown. */
export function redactSurvivors(redactor: Redactor, survivors: Survivors): Survivors {
  if (survivors === "unknown") return survivors
  return survivors.map(({ pid, command }) => ({ pid, command: redactor.redactText(command) }))
}
