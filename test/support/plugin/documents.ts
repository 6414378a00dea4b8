import type { JsonValue } from "../../../src/base/json.ts"
import type { DocumentsPort } from "../../../src/plugin/documents-port.ts"

/** The port `documents` of each owner, kept in memory. */
export function createTestDocuments(): (owner: string) => DocumentsPort {
  const kept = new Map<string, JsonValue>()
  return (owner) => ({
    read: async (name) => kept.get(`${owner}/${name}`),
    async change(name, change) {
      const value = change(kept.get(`${owner}/${name}`))
      kept.set(`${owner}/${name}`, value)
      return value
    },
  })
}
