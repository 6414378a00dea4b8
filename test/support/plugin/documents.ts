import type { JsonValue } from "../../../src/base/json.ts"
import type { DocumentsPort } from "../../../src/plugin/documents-port.ts"

/** What the runtime gives, by owner, in memory. */
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
