import { createHash } from "node:crypto"
import type { Query, Statement } from "./database.ts"

/** Gives a text a name, so that each connection reads and plans it once, or answers with the text as it is. */
export type Naming = (text: string) => Statement | string

/** So many texts that were seen once are remembered, and no more. */
const MOST_STRANGERS = 1_000

/**
 * Names what comes again. What the server keeps for a name is large, and each connection has its own: there are no more
 * than so many.
 */
export function createNaming(most: number): Naming {
  const statements = new Map<string, Statement>()
  const strangers = new Set<string>()
  return (text) => {
    const known = statements.get(text)
    if (known || statements.size >= most) return known ?? text
    if (!strangers.delete(text)) {
      if (strangers.size >= MOST_STRANGERS) strangers.clear()
      strangers.add(text)
      return text
    }
    const statement = { name: createHash("sha1").update(text).digest("base64url"), text }
    statements.set(text, statement)
    return statement
  }
}

/** Names what comes again with other values. */
export function toNamedQuery(query: Query, statementOf: Naming): Query {
  return (statement, values) =>
    query(typeof statement === "string" && values ? statementOf(statement) : statement, values)
}
