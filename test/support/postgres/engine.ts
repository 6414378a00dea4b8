import { createSubject, type EngineSubject } from "../../../src/engine/suite/subject.ts"
import { createPostgresEngine } from "../../../src/engine/postgres/engine.ts"
import type { PostgresEngineOptions } from "../../../src/engine/postgres/engine-options.ts"
import { createTestDatabase, START_PATIENCE_MS } from "./server.ts"

/** A store in a database of its own, for the shared suite. */
export async function createTestPostgres(
  options: Partial<PostgresEngineOptions> = {},
): Promise<EngineSubject & { readonly url: string }> {
  const place = await createTestDatabase()
  const open = () => createPostgresEngine({ url: place.url, startPatienceMs: START_PATIENCE_MS, ...options })
  return { url: place.url, ...(await createSubject(open, place.drop)) }
}
