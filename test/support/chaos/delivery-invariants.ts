import type { Message } from "../../../src/plugin/message.ts"
import type { GroupRecord } from "../../../src/task/group.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { Notice } from "../../../src/task/notice.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { readAcknowledged, readShowings, type Showing } from "./delivery-record.ts"
import { findBrokenHistories, findUnfinished, readHistories } from "./store-invariants.ts"
import { findBrokenConversation } from "./turn-conversation.ts"
import { readStoredSession, type StoredSession } from "./turn-record.ts"

const MOST_NOTICES = 1_000

/** Violations once everything has ended and every conversation went on. Empty: every end reached its conversation once. */
export async function findDeliveryViolations(
  store: TaskStore,
  sessions: readonly SessionId[],
): Promise<readonly string[]> {
  const histories = await readHistories(store)
  const { problems } = await store.checkIntegrity()
  const told = await Promise.all(sessions.map((session) => findWrongDeliveries(store, session)))
  return [
    ...problems,
    ...(await findBrokenHistories(store, histories)),
    ...(await findUnfinished(store, histories)),
    ...told.flat(),
  ]
}

async function findWrongDeliveries(store: TaskStore, id: SessionId): Promise<readonly string[]> {
  const stored = await readStoredSession(store, id)
  if (!stored) return [`${id} is not in the store`]
  const wrong = await Promise.all(stored.tasks.map((task) => findWrongOf(store, task.id, stored)))
  const left = stored.data.turn === null ? [] : [`the turn ${stored.data.turn} still holds ${id}`]
  // If the process dies while a turn is being stopped, the turn ends without words of the model: two user messages in a row.
  const broken = findBrokenConversation(stored.messages).filter((problem) => !problem.endsWith("both of user"))
  return [...broken, ...left, ...wrong.flat()]
}

async function findWrongOf(store: TaskStore, id: TaskRecord["id"], { messages }: StoredSession) {
  const task = await store.task(id)
  if (!task) return [`${id} is listed and cannot be read`]
  const notices = (await store.notices({ taskId: id }, MOST_NOTICES)).filter(({ kind }) => kind === "ended")
  const group = task.group ? await store.group(task.group) : undefined
  const known = findExcuse(task, group, messages)
  // A read of a gated member shows that it has ended, and its result only once a person has said yes.
  const isGated = group?.merge === "human_gated"
  const own = readShowings(messages).filter(({ mark, how }) => mark === task.title && !(isGated && how === "read"))
  return notices.flatMap((notice) => {
    // A showing without a run belongs to the last run: only failed runs are repeated, and those show theirs.
    const showings = own.filter(({ run }) => (run ?? task.run) === notice.run)
    return findWrongRun(notice, showings, known).map(
      (problem) => `${problem}: ${task.title}/${notice.run}, ${task.status}, ${notice.state}, ${id}`,
    )
  })
}

/** Why a result may be used without being shown, or may never be told. */
interface Excuse {
  readonly isUsedUnseen: boolean
  readonly isNeverTold: boolean
}

function findExcuse(task: TaskRecord, group: GroupRecord | undefined, messages: readonly Message[]): Excuse {
  const isAcknowledged = readAcknowledged(messages).some((id) => task.id.startsWith(id))
  // A person may turn a gated result down, and a newer group may replace one. A question's result is told as part of its group.
  const isPassed = group?.merge === "human_gated" || group?.merge === "replace" || task.plugin.startsWith("#")
  const isNeverTold = task.notify === "silent" || (group?.report === "none" && group.merge !== "human_gated")
  return { isUsedUnseen: isAcknowledged || isPassed, isNeverTold }
}

function findWrongRun({ state }: Notice, showings: readonly Showing[], excuse: Excuse): readonly string[] {
  const told = showings.filter(({ how }) => how === "told").length
  const firstRead = showings.findIndex(({ how }) => how === "read")
  const lastTold = showings.findLastIndex(({ how }) => how === "told")
  return [
    ...(told <= 1 ? [] : [`told ${told} times`]),
    ...(firstRead >= 0 && lastTold > firstRead ? ["told after it was read"] : []),
    ...(state === "consumed" && showings.length === 0 && !excuse.isUsedUnseen ? ["used and never shown"] : []),
    ...(state === "pending" && showings.length > 0 ? ["shown and not used"] : []),
    ...((state === "pending" || state === "claimed") && !excuse.isNeverTold ? ["lost"] : []),
  ]
}

/** Ends that one request shows the model twice, which must not happen in any life. */
export function findRepeatedShowings(messages: readonly Message[]): readonly string[] {
  const told = readShowings(messages).filter(({ how }) => how === "told")
  const names = told.map(({ mark, run }) => `${mark}/${run ?? "?"}`)
  return names
    .filter((name, index) => names.indexOf(name) !== index)
    .map((name) => `the model was told twice of ${name}`)
}
