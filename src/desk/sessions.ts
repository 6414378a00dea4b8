import { MeanwhileError } from "../base/error.ts"
import { lookUntil } from "../base/look-until.ts"
import { throughPages } from "../base/pages.ts"
import type { SessionInfo } from "../plugin/sessions-port.ts"
import { toSessionInfo } from "../session/conversation/context.ts"
import { parseEntry } from "../session/log/log-entry.ts"
import { type SaidText, toSaid } from "../session/log/recall-said.ts"
import { toGivenId } from "../task/given-id.ts"
import { toHead } from "../session/saved/session-state.ts"
import type { SessionId } from "../task/id.ts"
import type { DeskScope } from "./desk-options.ts"
import { follow } from "../base/follow.ts"
import type { Inbox } from "./inbox.ts"
import { MOST_READ, type Reading, toReading } from "./list-all.ts"
import type { SessionAncestors } from "./session-ancestors.ts"
import type { DeskTurn, Turns } from "./turns.ts"

const PAGE_SIZE = 100
/** Wake-ups may be lost: after so long a followed session is read again in any case. */
const LOOK_EVERY_MS = 5_000
const MOST_NAMED = 5

/**
 * `needs_you`: something in it, or in an agent below it, waits for a person. `working`: it has a turn, here or
 * elsewhere.
 */
export type SessionState = "working" | "needs_you" | "idle"

export interface DeskSession extends SessionInfo {
  readonly state: SessionState
  /** The turn that has not ended. Null if there is none: then the next message begins one. */
  readonly turn: DeskTurn | null
}

export interface SessionMessage extends SaidText {
  /** The message's place in the log of the session. It is a cursor. */
  readonly position: number
  readonly at: number
}

export interface MessagePage {
  /** Oldest first. */
  readonly items: readonly SessionMessage[]
  /** Where the next page begins, even if this page is empty. At the end it is the cursor that was given. */
  readonly cursor: number
}

/**
 * The conversations of one workspace. Subagents have sessions too, which are not listed. A runtime without a data folder
 * and without an engine of its own stores no conversation: none is listed, and none has messages here.
 */
export interface Sessions {
  /** Most recently used first; at most `limit`, and at most 1,000. */
  list(limit: number): Promise<readonly DeskSession[]>
  /** Finds a session by its id or by an unambiguous prefix of it. Refused as `not_found` or `ambiguous_id`. */
  find(id: string): Promise<DeskSession>
  /** True if the session is stored in this workspace. It is stored with its first message. */
  isKept(id: string): Promise<boolean>
  /**
   * The words of the person and the agent, without what the model was told beside them. The limit counts entries of the
   * log, and calls of tools and their results are entries too. No messages if the session is not stored yet, or is of
   * another workspace.
   */
  messages(id: string, request: Reading): Promise<MessagePage>
  /**
   * Every message after the cursor, and then each one as it is stored, whichever process stores it. Ends with the signal
   * or with the runtime, and keeps the process alive until then.
   */
  follow(id: string, after: number, signal: AbortSignal): AsyncGenerator<SessionMessage, void>
}

type SessionsParts = Pick<DeskScope, "workspace" | "directory" | "store" | "bus" | "clock" | "closing"> & {
  readonly inbox: Pick<Inbox, "list">
  readonly turns: Pick<Turns, "list">
  readonly ancestorsOf: SessionAncestors
}

export function createSessions(parts: SessionsParts): Sessions {
  const { workspace, store, inbox, turns, ancestorsOf, bus, clock, closing } = parts
  const directory = parts.directory(workspace)

  async function withState(infos: readonly SessionInfo[]): Promise<readonly DeskSession[]> {
    const [live, questions] = await Promise.all([turns.list(), inbox.list()])
    const asking = questions.flatMap(({ task }) => task.session ?? [])
    const needing = new Set((await Promise.all(asking.map(ancestorsOf))).flat())
    return infos.map((info) => {
      const turn = live.find(({ session }) => session === info.id) ?? null
      return { ...info, turn, state: needing.has(info.id) ? "needs_you" : turn ? "working" : "idle" }
    })
  }

  async function readExact(id: string): Promise<SessionInfo | undefined> {
    const record = await store.session(id as SessionId)
    return record?.workspace === workspace && record.parent === null ? toSessionInfo(toHead(record)) : undefined
  }

  async function readAll(): Promise<readonly SessionInfo[]> {
    const pages = throughPages((from) => directory.list({}, { limit: MOST_READ, ...from }))
    return (await Array.fromAsync(pages)).flat()
  }

  const toId = (id: string): SessionId => toGivenId("session", id, "id")
  const isKept = async (id: SessionId): Promise<boolean> => (await store.session(id))?.workspace === workspace

  async function readMessages(id: SessionId, request: Reading): Promise<MessagePage> {
    const { after, limit } = toReading("messages", request)
    if (!(await isKept(id))) return { items: [], cursor: after }
    const records = await store.messages(id, after, limit)
    const items = records.flatMap(({ position, at, body }) => {
      const entry = parseEntry(body)
      return entry ? toSaid(entry).map((said) => ({ ...said, position, at })) : []
    })
    return { items, cursor: records.at(-1)?.position ?? after }
  }

  return {
    async list(wanted) {
      const { limit } = toReading("sessions", { after: 0, limit: wanted })
      return withState((await directory.list({}, { limit })).items)
    },
    async find(id) {
      const known = (await readExact(id)) ?? requireOne(await readAll(), id)
      const [session] = await withState([known])
      if (!session) throw toUnknown(id)
      return session
    },
    isKept: async (id) => isKept(toId(id)),
    messages: async (id, request) => readMessages(toId(id), request),
    follow: (id, after, own) => {
      const session = toId(id)
      return follow([own, closing], (signal) => followMessages(session, after, signal))
    },
  }

  async function* followMessages(
    id: SessionId,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<SessionMessage, void> {
    let cursor = after
    const watch = {
      clock,
      pollMs: LOOK_EVERY_MS,
      signals: [signal],
      keepsProcessAlive: true,
      subscribe: (wake: () => void): (() => void) =>
        bus.subscribe((change) => {
          if (change.about === "unknown" || (change.about === "session" && change.sessionId === id)) wake()
        }),
      async look(): Promise<MessagePage | undefined> {
        const page = await readMessages(id, { after: cursor, limit: PAGE_SIZE })
        return page.cursor > cursor ? page : undefined
      },
    }
    for (;;) {
      const page = await lookUntil(watch)
      if (!page) return
      yield* page.items
      cursor = page.cursor
    }
  }
}

function requireOne(known: readonly SessionInfo[], wanted: string): SessionInfo {
  const isBeginning = wanted !== ""
  const found = known.filter(({ id }) => isBeginning && id.startsWith(wanted.toLowerCase()))
  const [first, second] = found
  if (!first) throw toUnknown(wanted)
  if (!second) return first
  const ids = found.slice(0, MOST_NAMED).map(({ id }) => id)
  const message = `Several sessions begin with ${wanted}: ${ids.join(", ")}. Give more of the id.`
  throw new MeanwhileError("ambiguous_id", message, { ids })
}

function toUnknown(id: string): MeanwhileError {
  return new MeanwhileError("not_found", `There is no session ${id}.`, { session: id })
}
