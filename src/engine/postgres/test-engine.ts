import { createSubject, type EngineSubject } from "../suite/subject.ts"
import { createPostgresEngine } from "./engine.ts"
import type { PostgresEngineOptions } from "./engine-options.ts"
import { createTestDatabase } from "./test-server.ts"

/** A store in a database of its own, as the shared suite wants it. */
export async function createTestPostgres(
  options: Partial<PostgresEngineOptions> = {},
): Promise<EngineSubject & { readonly url: string }> {
  const place = await createTestDatabase()
  const open = () => createPostgresEngine({ url: place.url, ...options })
  return { url: place.url, ...(await createSubject(open, place.drop)) }
}
