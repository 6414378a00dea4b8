import type { Engine } from "../../task/engine.ts"
import type { PostgresEngineOptions } from "./engine-options.ts"

/**
 * Store, dispatcher and bus on one PostgreSQL, which any number of processes on any number of hosts may use. Modules
 * that speak to a server are not loaded before this is called.
 */
export async function createPostgresEngine(options: PostgresEngineOptions): Promise<Engine> {
  const { openEngine } = await import("./open-engine.ts")
  return openEngine(options)
}
