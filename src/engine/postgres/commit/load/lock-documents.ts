import { storableOf } from "../../schema/storable.ts"
import type { Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import type { Questions } from "./questions.ts"

export function askForDocuments(questions: Questions<LockedRows>, { rows }: Wants): void {
  const keys = storableOf(rows.document)
  if (keys.length === 0) return
  questions.ask("documents", (parameter) => {
    const workspaces = parameter(keys.map(({ workspace }) => workspace))
    const collections = parameter(keys.map(({ collection }) => collection))
    const ids = parameter(keys.map(({ id }) => id))
    return `SELECT workspace, collection, id, version
      FROM unnest(${workspaces}::text[], ${collections}::text[], ${ids}::text[]) AS wanted (workspace, collection, id)
      JOIN documents USING (workspace, collection, id) ORDER BY workspace, collection, id FOR UPDATE OF documents`
  })
}

export function learnDocuments(answers: Partial<LockedRows>, { rows }: Wants, { documents }: WorkingSet): void {
  for (const key of rows.document.values()) documents.learn(key, undefined)
  for (const row of answers.documents ?? []) documents.learn(row, row.version)
}
