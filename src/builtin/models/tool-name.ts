const LEGAL = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

/** A name that every API accepts in a history: a model may have called a tool by a name that no tool can have. */
export function toLegalToolName(name: string): string {
  if (LEGAL.test(name)) return name
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 63)
  return /^[a-zA-Z_]/.test(legal) ? legal : `_${legal}`
}

/** The names of one request's tools on the wire: most APIs refuse the dot that ours may have. */
export interface ToolNames {
  toWire(name: string): string
  /** Returns a name that is none of them unchanged. */
  fromWire(name: string): string
}

export function createToolNames(tools: readonly { readonly name: string }[]): ToolNames {
  const illegal = tools.map(({ name }) => name).filter((name) => !LEGAL.test(name))
  if (illegal.length === 0) return { toWire: (name) => name, fromWire: (name) => name }
  const taken = new Set(tools.map(({ name }) => name).filter((name) => LEGAL.test(name)))
  const ours = new Map<string, string>()
  const wire = new Map<string, string>()
  for (const name of illegal) {
    const free = toFree(toLegalToolName(name), taken)
    taken.add(free)
    ours.set(free, name)
    wire.set(name, free)
  }
  return { toWire: (name) => wire.get(name) ?? name, fromWire: (name) => ours.get(name) ?? name }
}

function toFree(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name.slice(0, 60)}_${number}`)) number++
  return `${name.slice(0, 60)}_${number}`
}
