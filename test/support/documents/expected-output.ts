/**
 * Turns the output that a document or an example shows into a pattern. `…` stands for anything within a line, because ids
 * and times differ from run to run.
 */
export function toOutputPattern(expected: string): RegExp {
  const parts = expected.trim().split("…")
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join("[^\\n]*")}$`)
}

/** The comment at the end of an example, without its heading. Undefined when it has none. */
export function findExpectedOutput(source: string): string | undefined {
  return /\/\* Prints:\n([\s\S]*?)\*\/\s*$/.exec(source)?.[1]
}
