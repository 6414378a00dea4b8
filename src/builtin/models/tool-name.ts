const LEGAL = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

/** A name as every API takes it back. A model may have called a tool that does not exist, by a name that no tool can have. */
export function toLegalToolName(name: string): string {
  if (LEGAL.test(name)) return name
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 63)
  return /^[a-zA-Z_]/.test(legal) ? legal : `_${legal}`
}
