import { MeanwhileError } from "../../base/error.ts"
import type { SessionId } from "../../task/id.ts"
import type { FileState } from "./file-state.ts"
import type { Place } from "./working-root.ts"

/** The last content of each file that each conversation saw. In memory: after a restart nothing counts as seen. */
export interface SeenFiles {
  remember(session: SessionId | null, place: Place, hash: string | null): void
  /** Refuses when the file is no longer what the conversation saw; not one it never saw, nor one that is gone. */
  requireUnchanged(session: SessionId | null, place: Place, state: FileState | undefined): void
}

const MOST_SEEN = 10_000

export function createSeenFiles(): SeenFiles {
  const seen = new Map<string, string | null>()
  const toKey = (session: SessionId | null, place: Place): string => `${session ?? ""}\0${place.absolute}`
  return {
    remember: (session, place, hash) => {
      const key = toKey(session, place)
      seen.delete(key)
      seen.set(key, hash)
      const [oldest] = seen.keys()
      if (seen.size > MOST_SEEN && oldest !== undefined) seen.delete(oldest)
    },
    requireUnchanged: (session, place, state) => {
      const hash = seen.get(toKey(session, place))
      if (!state || hash === undefined || hash === state.hash) return
      const message = `"${place.path}" was changed by something else since you read it. Read it again, then change it.`
      throw new MeanwhileError("wrong_state", message, { path: place.path })
    },
  }
}
