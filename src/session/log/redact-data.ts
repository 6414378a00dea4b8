import { type JsonObject, toJson } from "../../base/json.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { SessionData } from "./session-data.ts"

type Texts = Pick<SessionData, "name" | "instructions" | "title" | "description" | "plugins">

/** What is stored of a session's data. Looked through only when one of its texts is another: it is rewritten often. */
export function createDataRedactor(redactor: Redactor): (data: SessionData) => JsonObject {
  let known: SessionData | undefined
  let texts: Texts | undefined
  return (data) => {
    if (!known || !hasSameTexts(known, data)) {
      const { name, instructions, title, description, plugins } = data
      const { value } = redactor.redactJson({ name, instructions, title, description, plugins })
      // What is not one of the texts is JSON by its own type.
      texts = toJson(value) as unknown as Texts
    }
    known = data
    return { ...data, ...texts }
  }
}

const TEXTS = ["name", "instructions", "title", "description", "plugins"] as const satisfies readonly (keyof Texts)[]

function hasSameTexts(a: SessionData, b: SessionData): boolean {
  return TEXTS.every((name) => a[name] === b[name])
}
