import type { Question } from "../../plugin/person-port.ts"
import type { Redactor } from "./redactor.ts"

/** A question as a person sees it and as it is kept: see `redactShown`. */
export function redactQuestion<Asked extends Question>(
  redactor: Pick<Redactor, "redactShown">,
  question: Asked,
): Asked {
  const { text, detail, options, fallback } = question
  return {
    ...question,
    text: redactor.redactShown(text),
    ...(detail !== undefined && { detail: redactor.redactShown(detail) }),
    ...(fallback !== undefined && { fallback: redactor.redactShown(fallback) }),
    ...(options && { options: options.map((option) => redactor.redactShown(option)) }),
  }
}
