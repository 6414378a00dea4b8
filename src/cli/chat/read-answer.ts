import type { Runtime } from "../../app.ts"

export type PersonChannel = Parameters<Runtime["attach"]>[0]
export type Question = Parameters<PersonChannel["ask"]>[0]

/** What a line means as an answer: a value, or why it is none. */
export type ReadAnswer = { readonly value: string } | { readonly problem: string }

const YES = /^y(es)?$/i
const NO = /^no?$/i
/** A no with a reason, which the model is told. */
const NO_BECAUSE = /^no?[\s,:;.-]+\S/i

export function readAnswer(question: Question, line: string): ReadAnswer {
  const text = line.trim()
  if (text === "") {
    return question.fallback === undefined ? { problem: "Type an answer." } : { value: question.fallback }
  }
  switch (question.kind) {
    case "text":
      return { value: text }
    case "approval":
      return readYesOrNo(text)
    case "choice":
      return question.isMultiple ? readSeveral(question, text) : readOne(question, text)
  }
}

function readYesOrNo(text: string): ReadAnswer {
  if (YES.test(text)) return { value: "yes" }
  return NO.test(text) ? { value: "no" } : { problem: "Answer with yes or no." }
}

function readOne(question: Question, text: string): ReadAnswer {
  const options = question.options ?? []
  const option = findOption(options, text)
  if (option !== undefined) return { value: option }
  if (options.includes("no") && NO_BECAUSE.test(text)) return { value: text }
  return { problem: `Answer with one of the numbers 1 to ${options.length}.` }
}

function readSeveral({ options = [] }: Question, text: string): ReadAnswer {
  const found = text.split(",").map((part) => findOption(options, part.trim()))
  const chosen = found.filter((option) => option !== undefined)
  if (chosen.length === found.length) return { value: chosen.join(", ") }
  return { problem: `Answer with numbers from 1 to ${options.length}, separated by commas.` }
}

/** By its number, its text, `y` and `n`, or `a` for the first that begins with "always". */
function findOption(options: readonly string[], text: string): string | undefined {
  const wanted = text.toLowerCase()
  const numbered = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
  const named = options.find((option) => option.toLowerCase() === wanted)
  if (numbered ?? named) return numbered ?? named
  if (YES.test(text)) return options.find((option) => option === "yes")
  if (NO.test(text)) return options.find((option) => option === "no")
  return /^a(lways)?$/.test(wanted) ? options.find((option) => option.startsWith("always")) : undefined
}
