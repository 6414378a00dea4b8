import type { Engine } from "../../task/engine.ts"
import type { EngineSubject } from "../suite/subject.ts"
import { createPostgresEngine } from "./engine.ts"
import type { PostgresEngineOptions } from "./engine-options.ts"
import { createTestDatabase } from "./test-server.ts"

/** A store in a database of its own, as the shared suite wants it. */
export async function createTestPostgres(
  options: Partial<PostgresEngineOptions> = {},
): Promise<EngineSubject & { readonly url: string }> {
  const place = await createTestDatabase()
  const opened: Engine[] = []
  async function open(): Promise<Engine> {
    const engine = await createPostgresEngine({ url: place.url, ...options })
    opened.push(engine)
    return engine
  }
  const engine = await open()
  return {
    url: place.url,
    engine,
    another: open,
    async reopen() {
      await engine.close()
      return open()
    },
    async dispose() {
      await Promise.all(opened.map((one) => one.close()))
      await place.drop()
    },
  }
}
