import type { StoreHealth } from "../../../task/store.ts"
import { INTEGRITY_RULES } from "../../rules/integrity-rules.ts"
import type { Query } from "../connection/database.ts"

/** References between tables. A row is never removed before the rows that refer to it. */
const BELONGINGS = [
  ["runs", "task", "tasks", "number"],
  ["events", "task", "tasks", "number"],
  ["steps", "task", "tasks", "number"],
  ["notices", "task", "tasks", "number"],
  ["waits", "task", "tasks", "number"],
  ["arrivals", "task", "tasks", "number"],
  ["arrivals", "group_id", "groups", "id"],
  ["messages", "session", "sessions", "number"],
  ["artifact_owners", "task", "tasks", "number"],
  ["artifact_owners", "artifact", "artifacts", "number"],
] as const

/** Each query finds rows in a state that no operation can produce; a row's `problem` is a sentence for people. */
const RULES: readonly string[] = [
  `SELECT 'The events of task ' || id || ' do not end at ' || last_sequence || '.' AS problem FROM tasks
   LEFT JOIN (SELECT task, max(sequence) AS last FROM events GROUP BY task) log ON log.task = number
   WHERE last_sequence <> coalesce(last, 0)`,
  `SELECT 'The events of task ' || id || ' have a gap.' AS problem FROM tasks
   LEFT JOIN (SELECT task, count(*) AS count FROM events GROUP BY task) log ON log.task = number
   WHERE stripped_at IS NULL AND last_sequence <> coalesce(count, 0)`,
  ...INTEGRITY_RULES,
  ...BELONGINGS.map(
    ([table, column, owner, key]) =>
      `SELECT 'A row of ${table} belongs to a row of ${owner} that does not exist.' AS problem FROM ${table} part
       WHERE NOT EXISTS (SELECT 1 FROM ${owner} WHERE ${owner}.${key} = part.${column})`,
  ),
]

/** The first problems are enough to begin a repair. */
const MOST_PROBLEMS_PER_RULE = 100

/** Each rule sees one moment, so that rows written meanwhile are no problem. */
export async function checkIntegrity(query: Query): Promise<StoreHealth> {
  const problems: string[] = []
  for (const rule of RULES) {
    const rows = await query<{ problem: string }>(`${rule} LIMIT ${MOST_PROBLEMS_PER_RULE}`)
    problems.push(...rows.map(({ problem }) => problem))
  }
  return { isHealthy: problems.length === 0, problems }
}
