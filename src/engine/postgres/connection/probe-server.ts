import { setTimeout as wait } from "node:timers/promises"
import pg from "pg"
import { type ClientSettings, withoutSessionSettings } from "./client-settings.ts"
import { createSockets } from "./sockets.ts"

const ANSWER_MS = 1_000

/** Asks whether the server is read-only. */
export const IS_READ_ONLY = "SELECT current_setting('transaction_read_only') = 'on' AS is_read_only"

/** Asks the server on a connection of its own: those of the pool may all wait for answers that never come. */
export async function probeServer({ client: config }: ClientSettings): Promise<void> {
  const times = { connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS }
  const sockets = createSockets()
  const settings = { ...withoutSessionSettings(config), ...times, pipeline: false, stream: sockets.create }
  const client = new pg.Client(settings)
  client.on("error", ignore)
  try {
    await client.connect()
    const { rows } = await client.query<{ is_read_only: boolean }>(IS_READ_ONLY)
    if (rows[0]?.is_read_only) throw readOnly()
    // The server has answered. That it hears of the end is not waited for longer than an answer.
    await Promise.race([client.end(), wait(ANSWER_MS, undefined, { ref: false })])
  } finally {
    sockets.destroyAll()
  }
}

/** An error like that by which a read-only server refuses a write. */
export function readOnly(): Error {
  return Object.assign(new Error("the server takes no writes"), { code: "25006" })
}

function ignore(): void {}
