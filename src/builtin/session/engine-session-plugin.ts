import { type Clock, systemClock } from "../../base/clock.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { toDescription } from "./description.ts"
import { createShelfPlugin } from "./shelf-plugin.ts"

export interface EngineSessionPlugin extends SessionPlugin {
  /** When it was last saved by this process. */
  savedAt(id: SessionId): number | undefined
}

export interface EngineSessionPluginOptions {
  readonly directory: SessionDirectory
  readonly clock?: Clock
}

/** The engine is the truth: it has every message from the moment it was said, so that a checkpoint writes nothing. */
export function createEngineSessionPlugin(options: EngineSessionPluginOptions): EngineSessionPlugin {
  const { directory, clock = systemClock } = options
  const savedAt = new Map<SessionId, number>()
  const plugin = createShelfPlugin({
    name: "session",
    shelf: {
      async save({ id }) {
        savedAt.set(id, clock.now())
        return `Saved as ${id}: every message was kept as it was said.`
      },
      open: async (id) => id,
      load: (id) => directory.load(id),
      list: () => directory.list(),
      async delete(id) {
        savedAt.delete(id)
        return directory.delete(id)
      },
      setDescription: (id, description) => directory.describe(id, toDescription(description)),
    },
    onSessionStarted: () => undefined,
  })
  return { ...plugin, savedAt: (id) => savedAt.get(id) }
}
