import { type Clock, systemClock } from "../../base/clock.ts"
import { createNewestMap } from "../../base/newest-map.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { toDescription } from "./description.ts"
import { createShelfPlugin } from "./shelf-plugin.ts"

export interface EngineSessionPlugin extends SessionPlugin {
  /** When this process last saved the conversation; known for the newest 1,000. */
  savedAt(id: SessionId): number | undefined
}

export interface EngineSessionPluginOptions {
  readonly directory: SessionDirectory
  readonly clock?: Clock
}

const MOST_TIMES = 1_000

/** The engine is the truth: it has every message from the moment it was said, so that a checkpoint writes nothing. */
export function createEngineSessionPlugin(options: EngineSessionPluginOptions): EngineSessionPlugin {
  const { clock = systemClock } = options
  const savedAt = createNewestMap<SessionId, number>(MOST_TIMES)
  const save = async ({ id }: SessionState): Promise<string> => {
    savedAt.set(id, clock.now())
    return `Saved as ${id}: every message was kept as it was said.`
  }
  const plugin = createShelfPlugin({
    name: "session",
    directory: options.directory,
    save,
    shelfIn: (directory) => ({
      save,
      open: async (id) => id,
      load: (id) => directory.load(id),
      list: async () => (await directory.list()).items,
      async delete(id) {
        savedAt.delete(id)
        return directory.delete(id)
      },
      setDescription: (id, description) => directory.describe(id, toDescription(description)),
    }),
    onSessionStarted: () => undefined,
  })
  return { ...plugin, savedAt: (id) => savedAt.get(id) }
}
