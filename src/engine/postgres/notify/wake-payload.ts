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

/** A notification has fewer than 8,000 bytes. */
const LARGEST_PAYLOAD = 7_900
/** Beyond this, reading everything is quicker than following the list. */
const MOST_PAYLOADS = 20

type Topic = "tasks" | "sessions" | "written" | "groups" | "outputs"
type Item = readonly [topic: Topic, encoded: string]

/**
 * The news of one transaction as few notifications: ids and sequence numbers only, each thing once. A listener
 * reads from its own cursor, so nothing is lost when several become one.
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

/** True if this process has sent it: nothing else of it need be read. */
export function isFrom(payload: string, sender: string): boolean {
  return payload.startsWith(toHead(sender))
}

function toHead(sender: string): string {
  return `{"from":${JSON.stringify(sender)}`
}

/** Undefined: not of ours, or of a Meanwhile that says it otherwise. */
export function fromPayload(payload: string): Message | undefined {
  const parsed = parse(payload)
  if (typeof parsed !== "object" || parsed === null) return undefined
  const {
    from,
    everything,
    offers,
    tasks = [],
    sessions = [],
    written = [],
    groups = [],
    outputs = [],
  } = parsed as Record<string, unknown>
  if (typeof from !== "string") return undefined
  if (everything === true) return { sender: from, wakes: [{ about: "unknown" }], hasOffers: true }
  if (!isListOf(tasks, isTaskEntry) || !isListOf(groups, isText)) return undefined
  if (!isListOf(sessions, isText) || !isListOf(written, isText) || !isListOf(outputs, isText)) return undefined
  const wakes: Wake[] = [
    ...tasks.map(toTaskWake),
    ...sessions.map((id): Wake => ({ about: "session", sessionId: id as SessionId })),
    ...written.map((id): Wake => ({ about: "session", sessionId: id as SessionId, hasNotice: false })),
    ...groups.map((id): Wake => ({ about: "group", groupId: id as GroupId })),
    ...outputs.map((id): Wake => ({ about: "output", taskId: id as TaskId })),
  ]
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
    ...[...sessions].map((id): Item => ["sessions", JSON.stringify(id)]),
    ...[...written.difference(sessions)].map((id): Item => ["written", JSON.stringify(id)]),
    ...[...groups].map((id): Item => ["groups", JSON.stringify(id)]),
    ...[...outputs].map((id): Item => ["outputs", JSON.stringify(id)]),
  ]
}

/** Behind a task that lives. Who does not know of it reads on: it only saves a look. */
const LIVE = 1

function toTaskWake([id, sequence, mark]: TaskEntry): Wake {
  return { about: "task", taskId: id as TaskId, sequence, ...(mark === LIVE ? { isLive: true } : {}) }
}

/** Everything in a payload beside its head and its items. */
const ENVELOPE_BYTES = '"offers":true,"tasks":[],"sessions":[],"written":[],"groups":[],"outputs":[]}'.length + 10

/** Undefined: one item alone is too large to be told. */
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
