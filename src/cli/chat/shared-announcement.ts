import type { Runtime } from "../../app.ts"
import { isMeanwhileError } from "../../base/error.ts"
import type { TaskId } from "../format.ts"
import type { IdFiles } from "../id-files.ts"
import { type EndedRow, findEndedAfter, inOrder, type LastAnnouncement, type SessionId } from "./last-announcement.ts"
import type { SessionLine } from "./session-line.ts"

const COLLECTION = "announced"

export interface SharedAnnouncementOptions {
  readonly meanwhile: Pick<Runtime, "engine" | "desk">
  /** Tasks whose ends somebody was promised here to hear of. */
  readonly promised: IdFiles<TaskId>
  readonly lineOf: SessionLine
}

/**
 * Of a store that many folders share: a conversation may be opened from any of them, so the store knows up to when its
 * ends were announced. What belongs to no conversation is announced in the folder where that was promised.
 */
export function createSharedAnnouncement(options: SharedAnnouncementOptions): LastAnnouncement {
  const { meanwhile, promised, lineOf } = options
  const { engine } = meanwhile
  let keeping: Promise<void> = Promise.resolve()

  async function keep(session: SessionId, endedAt: number): Promise<void> {
    const id = (await lineOf(session)).at(-1) ?? session
    const record = await engine.store.session(id)
    if (!record) return
    const { workspace } = record
    for (;;) {
      const known = await engine.store.document(workspace, COLLECTION, id)
      if (Number(known?.value ?? 0) >= endedAt) return
      const put = { op: "document.put", workspace, collection: COLLECTION, id, value: endedAt } as const
      try {
        await engine.store.commit([{ ...put, expectedVersion: known?.version ?? 0 }])
        return
      } catch (error) {
        // Another chat of the same conversation has announced something too.
        if (!isMeanwhileError(error, "version_conflict")) throw error
      }
    }
  }

  /** Undefined: the conversation has just begun, and nothing of it can have ended. */
  async function findSince(conversation: SessionId): Promise<number | undefined> {
    const record = await engine.store.session(conversation)
    if (!record) return undefined
    const known = await engine.store.document(record.workspace, COLLECTION, conversation)
    return known ? Number(known.value) : record.createdAt
  }

  /** One that is gone, or that a conversation has, is told by nobody here. */
  async function findPromised(): Promise<readonly EndedRow[]> {
    const found: EndedRow[] = []
    for (const id of promised.list()) {
      const task = await engine.store.task(id)
      if (task?.session !== null) promised.remove(id)
      else if ("endedAt" in task) found.push(task)
    }
    return found
  }

  return {
    promise: (taskId) => promised.add(taskId),
    isPromised: (taskId) => promised.has(taskId),
    remember({ id, session, endedAt }) {
      promised.remove(id)
      if (session) keeping = keeping.then(() => keep(session, endedAt)).catch(() => {})
    },
    async missed(conversation) {
      const since = await findSince(conversation)
      const ended = since === undefined ? [] : await findEndedAfter(meanwhile, since)
      return inOrder([...ended.filter(({ session }) => session !== null), ...(await findPromised())])
    },
    kept: () => keeping,
  }
}
