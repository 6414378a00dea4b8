import type { Wake } from "../../../task/bus.ts"
import type { GroupId, SessionId, TaskId } from "../../../task/id.ts"

/** The news of a commit. */
export interface News {
  readonly wakes: readonly Wake[]
  readonly hasOffers: boolean
}

/** News, and the process that sent it. */
export interface Message extends News {
  readonly sender: string
}

/** PostgreSQL allows fewer than 8,000 bytes in a notification. */
const LARGEST_PAYLOAD = 7_900
/** Beyond this, reading everything is quicker than following the list. */
const MOST_PAYLOADS = 20

/** The lists of ids beside that of the tasks, each with what its ids mean. */
const ID_LISTS: Readonly<Record<string, (id: string) => Wake>> = {
  sessions: (id) => ({ about: "session", sessionId: id as SessionId }),
  written: (id) => ({ about: "session", sessionId: id as SessionId, hasNotice: false }),
  groups: (id) => ({ about: "group", groupId: id as GroupId }),
  outputs: (id) => ({ about: "output", taskId: id as TaskId }),
}

/** One entry of the list of its topic. */
type Item = readonly [topic: string, encoded: string]

/**
 * The news of one transaction in few notifications: ids and sequence numbers only, each thing once. A listener reads
 * from its own cursor, so nothing is lost if several changes become one entry.
 */
export function toPayloads(sender: string, changes: readonly News[]): readonly string[] {
  const head = toHead(sender)
  const hasOffers = changes.some((change) => change.hasOffers)
  const wakes = changes.flatMap((change) => change.wakes)
  if (wakes.length === 0 && !hasOffers) return []
  const everything = [`${head},"everything":true}`]
  if (wakes.some(({ about }) => about === "unknown")) return everything
  const pages = toPages(toItems(wakes), LARGEST_PAYLOAD - Buffer.byteLength(head) - ENVELOPE_BYTES)
  if (!pages || pages.length > MOST_PAYLOADS) return everything
  if (pages.length === 0) pages.push([])
  return pages.map((page, index) => `${head}${index === 0 && hasOffers ? ',"offers":true' : ""}${toLists(page)}}`)
}

/** True if this process has sent the payload, which then need not be parsed. */
export function isFrom(payload: string, sender: string): boolean {
  return payload.startsWith(toHead(sender))
}

function toHead(sender: string): string {
  return `{"from":${JSON.stringify(sender)}`
}

/** Undefined if the payload is not of Meanwhile, or of a version that writes it otherwise. */
export function fromPayload(payload: string): Message | undefined {
  const parsed = parse(payload)
  if (typeof parsed !== "object" || parsed === null) return undefined
  const { from, everything, offers, tasks = [], ...lists } = parsed as Record<string, unknown>
  if (typeof from !== "string") return undefined
  if (everything === true) return { sender: from, wakes: [{ about: "unknown" }], hasOffers: true }
  if (!isListOf(tasks, isTaskEntry)) return undefined
  const wakes: Wake[] = tasks.map(toTaskWake)
  for (const [topic, toWake] of Object.entries(ID_LISTS)) {
    const { [topic]: ids = [] } = lists
    if (!isListOf(ids, isText)) return undefined
    wakes.push(...ids.map(toWake))
  }
  return { sender: from, wakes, hasOffers: offers === true }
}

/** Merges wakes: the highest sequence of a task, live only if all say so; a session has a notice if any says so. */
function toItems(wakes: readonly Wake[]): readonly Item[] {
  const tasks = new Map<string, number>()
  const mayBeOver = new Set<string>()
  const sessions = new Set<string>()
  const written = new Set<string>()
  const groups = new Set<string>()
  const outputs = new Set<string>()
  for (const wake of wakes) {
    if (wake.about === "task") {
      tasks.set(wake.taskId, Math.max(wake.sequence, tasks.get(wake.taskId) ?? 0))
      if (!wake.isLive) mayBeOver.add(wake.taskId)
    } else if (wake.about === "group") groups.add(wake.groupId)
    else if (wake.about === "output") outputs.add(wake.taskId)
    else if (wake.about === "session") (wake.hasNotice === false ? written : sessions).add(wake.sessionId)
  }
  return [
    ...[...tasks].map(([id, sequence]): Item => {
      return ["tasks", JSON.stringify(mayBeOver.has(id) ? [id, sequence] : [id, sequence, LIVE])]
    }),
    ...Object.entries({ sessions, written: written.difference(sessions), groups, outputs }).flatMap(([topic, ids]) =>
      [...ids].map((id): Item => [topic, JSON.stringify(id)]),
    ),
  ]
}

/** Marks a task that lives. A version that does not know the mark ignores it: it only saves a look. */
const LIVE = 1

function toTaskWake([id, sequence, mark]: TaskEntry): Wake {
  return { about: "task", taskId: id as TaskId, sequence, ...(mark === LIVE ? { isLive: true } : {}) }
}

/** The size of everything in a payload besides its head and its items. */
const ENVELOPE_BYTES = '"offers":true,"tasks":[],"sessions":[],"written":[],"groups":[],"outputs":[]}'.length + 10

/** Undefined if one item alone is too large for a notification. */
function toPages(items: readonly Item[], size: number): Item[][] | undefined {
  const pages: Item[][] = []
  let left = 0
  for (const item of items) {
    const bytes = Buffer.byteLength(item[1]) + 1
    if (bytes > size) return undefined
    if (bytes > left) {
      pages.push([])
      left = size
    }
    pages.at(-1)?.push(item)
    left -= bytes
  }
  return pages
}

function toLists(page: readonly Item[]): string {
  const byTopic = Map.groupBy(page, ([topic]) => topic)
  return [...byTopic].map(([topic, items]) => `,"${topic}":[${items.map(([, encoded]) => encoded).join(",")}]`).join("")
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return undefined
  }
}

function isListOf<Entry>(value: unknown, isEntry: (entry: unknown) => entry is Entry): value is readonly Entry[] {
  return Array.isArray(value) && value.every(isEntry)
}

function isText(value: unknown): value is string {
  return typeof value === "string"
}

type TaskEntry = readonly [id: string, sequence: number, mark?: unknown]

function isTaskEntry(value: unknown): value is TaskEntry {
  return Array.isArray(value) && typeof value[0] === "string" && Number.isSafeInteger(value[1])
}
