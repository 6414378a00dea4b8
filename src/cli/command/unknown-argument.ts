import { MeanwhileError } from "../../base/error.ts"
import { toLine } from "../format/format.ts"

/** The refusal of a word that a command does not understand: the person meant something by it. */
export function toUnknownArgument(usage: string, argument: string, hint = ""): MeanwhileError {
  const [name = ""] = usage.split(" ")
  const message = `/${name} does not understand ${JSON.stringify(toLine(argument))}. Usage: /${usage}${hint}`
  return new MeanwhileError("invalid_input", message)
}
