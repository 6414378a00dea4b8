import { MeanwhileError } from "../../base/error.ts"
import type { DocumentRecord } from "../../task/document.ts"
import { wakeSession } from "./change.ts"
import type { Handlers } from "./handler.ts"
import type { Tables } from "./tables.ts"

export function createDocumentHandlers({ documents }: Tables): Pick<Handlers, "document.put" | "document.delete"> {
  return {
    "document.put"({ workspace, collection, id, value, expectedVersion, wakes = null }, change) {
      const version = documents.versionOf(workspace, collection, id)
      if (version !== expectedVersion) {
        const text = `Document ${collection}/${id} is at version ${version}, not ${expectedVersion}. Read it again before writing.`
        throw new MeanwhileError("version_conflict", text, { collection, id, version })
      }
      const document: DocumentRecord = { workspace, collection, id, version: version + 1, updatedAt: change.now, value }
      documents.save(document)
      wakeSession(change, wakes)
      return document
    },
    "document.delete"({ workspace, collection, id }) {
      documents.remove(workspace, collection, id)
      return null
    },
  }
}
