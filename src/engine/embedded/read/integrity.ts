import { isMeanwhileError, toErrorMessage } from "../../../base/error.ts"
import type { StoreHealth } from "../../../task/store.ts"
import { INTEGRITY_RULES } from "../../rules/integrity-rules.ts"
import { toStoreError } from "../sqlite/sqlite-error.ts"
import type { Prepare } from "../sqlite/statement.ts"

const OF_TASK = "place BETWEEN number << 32 AND number << 32 | 0xffffffff"

/** Each query finds rows in a state that no operation can produce; a row's `problem` is a sentence for people. */
const RULES: readonly string[] = [
  `SELECT 'The events of task ' || id || ' do not end at ' || last_sequence || '.' AS problem FROM tasks
   WHERE last_sequence <> coalesce((SELECT max(place) & 0xffffffff FROM events WHERE ${OF_TASK}), 0)`,
  `SELECT 'The events of task ' || id || ' have a gap.' AS problem FROM tasks WHERE stripped_at IS NULL
   AND last_sequence <> (SELECT count(*) FROM events WHERE ${OF_TASK})`,
  ...INTEGRITY_RULES,
  `SELECT 'An event belongs to a task that does not exist.' AS problem FROM events
   WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE number = place >> 32)`,
  `SELECT 'A message belongs to a session that does not exist.' AS problem FROM messages
   WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE number = place >> 32)`,
]

export function checkIntegrity(prepare: Prepare): StoreHealth {
  const inFile = checkFile(prepare)
  const problems = inFile.length > 0 ? inFile : [...findOrphans(prepare), ...findBroken(prepare)]
  return { isHealthy: problems.length === 0, problems }
}

function findOrphans(prepare: Prepare): readonly string[] {
  const rows = prepare<{ table: string; parent: string }>("PRAGMA foreign_key_check").all()
  return rows.map(({ table, parent }) => `A row of ${table} belongs to a row of ${parent} that does not exist.`)
}

function findBroken(prepare: Prepare): readonly string[] {
  return RULES.flatMap((rule) => prepare<{ problem: string }>(rule).all()).map(({ problem }) => problem)
}

/** If damage stops the check itself, that damage is the finding. */
function checkFile(prepare: Prepare): string[] {
  try {
    const rows = prepare<{ integrity_check: string }>("PRAGMA integrity_check").all()
    return rows.map((row) => row.integrity_check).filter((text) => text !== "ok")
  } catch (error) {
    if (!isMeanwhileError(toStoreError(error, ""), "store_damaged")) throw error
    return [`The file cannot be checked to its end: ${toErrorMessage(error)}.`]
  }
}
