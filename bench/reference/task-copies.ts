import type pg from "pg"

/** Tables of a store on PostgreSQL whose rows belong to one task, and the column that says to which. */
const FIND_TABLES = `SELECT table_name AS table, array_agg(column_name::text) AS columns FROM information_schema.columns
  WHERE table_schema = current_schema() GROUP BY table_name
  HAVING table_name = 'tasks' OR bool_or(column_name = 'task') ORDER BY table_name`

/** What differs from one copy to the next; everything else is as the engine wrote it. */
const OWN_COLUMNS: Readonly<Record<string, string>> = {
  number: "copies.number",
  task: "copies.number",
  id: "copies.id",
  task_id: "copies.id",
}

/** Fills the store with so many copies of each of the tasks, by one statement per table, with numbers and random ids of their own. */
export async function insertTaskCopies(client: pg.Client, taskIds: readonly string[], count: number): Promise<void> {
  const { rows: tables } = await client.query<{ table: string; columns: string[] }>(FIND_TABLES)
  for (const id of taskIds) {
    await client.query(`CREATE TEMP TABLE copies AS SELECT nextval('task_numbers') AS number, gen_random_uuid()::text AS id
      FROM generate_series(1, ${count})`)
    for (const { table, columns } of tables) {
      const values = columns.map((column) => OWN_COLUMNS[column] ?? `original.${column}`)
      const key = table === "tasks" ? "number" : "task"
      await client.query(
        `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM copies, ${table} AS original
         WHERE original.${key} = (SELECT number FROM tasks WHERE tasks.id = $1)`,
        [id],
      )
    }
    await client.query("DROP TABLE copies")
  }
}
