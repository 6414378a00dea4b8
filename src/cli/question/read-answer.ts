import type { ScreenRuntime } from "../../program/open-program.ts"

export type PersonChannel = Parameters<ScreenRuntime["attach"]>[0]
export type Question = Parameters<PersonChannel["ask"]>[0]

export const WITHDRAWN = { isAnswered: false, reason: "the question was withdrawn" } as const

const YES = /^y(es)?$/i
const NO = /^no?$/i
/** A no with a reason, which the model reads. */
export const NO_BECAUSE = /^no?[\s,:;.-]+\S/i

/** The answer that a line stands for. Undefined: the line is no answer. */
export function readAnswer(question: Question, line: string): string | undefined {
  const text = line.trim()
  if (text === "") return question.fallback
  switch (question.kind) {
    case "text":
      return text
    case "approval":
      return readYesOrNo(text)
    case "choice":
      return (
        (question.isMultiple ? readSeveral(question, text) : readOne(question, text)) ?? readOwnWords(question, text)
      )
  }
}

/** The option that `a` stands for: the first that begins with "always". */
export function alwaysOption(options: readonly string[]): string | undefined {
  return options.find((option) => option.startsWith("always"))
}

function readYesOrNo(text: string): string | undefined {
  if (YES.test(text)) return "yes"
  return NO.test(text) ? "no" : undefined
}

function readOne({ options = [] }: Question, text: string): string | undefined {
  const option = findOption(options, text)
  if (option !== undefined) return option
  return options.includes("no") && NO_BECAUSE.test(text) ? text : undefined
}

function readSeveral({ options = [] }: Question, text: string): string | undefined {
  const found = text.split(",").map((part) => findOption(options, part.trim()))
  const chosen = found.filter((option) => option !== undefined)
  return chosen.length === found.length ? chosen.join(", ") : undefined
}

/** A line of numbers alone is a choice of options, and no answer in own words. */
function readOwnWords({ allowsText = false }: Question, text: string): string | undefined {
  return allowsText && !/^[\d\s,]+$/.test(text) ? text : undefined
}

/** Finds an option by its number, its text, `y` and `n`, or `a`. */
function findOption(options: readonly string[], text: string): string | undefined {
  const wanted = text.toLowerCase()
  const numbered = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
  const named = options.find((option) => option.toLowerCase() === wanted)
  if (numbered ?? named) return numbered ?? named
  if (YES.test(text)) return options.find((option) => option === "yes")
  if (NO.test(text)) return options.find((option) => option === "no")
  return /^a(lways)?$/.test(wanted) ? alwaysOption(options) : undefined
}
