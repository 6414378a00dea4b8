import { MeanwhileError } from "../../base/error.ts"
import { lookUntil } from "../../base/look-until.ts"
import type { ListedSession, SessionChanges } from "../../plugin/sessions-port.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import { toSessionInfo } from "../conversation/context.ts"
import type { Using } from "../conversation/scope.ts"
import { relabel, toStoredChanges } from "../log/session-labels.ts"
import type { SessionLog } from "../log/session-log.ts"
import { toHead } from "./session-state.ts"

type LabelScope = Using<"bus" | "clock" | "open" | "redactor" | "store">

/**
 * Changes the labels of a session, whichever process has a turn of it. Those of a session in which nothing was said yet are
 * written with its first message.
 */
export async function labelSession(
  scope: LabelScope,
  workspace: WorkspaceId,
  id: SessionId,
  changes: SessionChanges,
): Promise<ListedSession> {
  const open = scope.open.get(id)?.log
  const log = open?.workspace === workspace ? open : undefined
  for (;;) {
    const wasNew = log?.isNew() ?? false
    const record = await find(scope, workspace, id, log)
    if (record) return labelStored(scope, record, log, changes)
    if (log?.isNew()) {
      log.relabel(relabel(scope.redactor, log.labels(), changes))
      return toSessionInfo(log)
    }
    // Otherwise its first message was sent while the store was asked.
    if (!wasNew) throw new MeanwhileError("not_found", `There is no session ${id}.`, { session: id })
  }
}

async function labelStored(
  { redactor, store }: LabelScope,
  record: SessionRecord,
  log: SessionLog | undefined,
  changes: SessionChanges,
): Promise<ListedSession> {
  // Checked against what is known now: the store adds the changes to what it has then.
  relabel(redactor, record, changes)
  const [labelled] = await store.commit([{ op: "session.label", id: record.id, ...toStoredChanges(redactor, changes) }])
  const { metadata, title } = labelled
  log?.relabel({ metadata, title })
  return toSessionInfo(toHead(labelled))
}

const PATIENCE_MS = 5_000
const LOOK_EVERY_MS = 100

/** The record of the session. One that is just being written is waited for. */
async function find(
  { bus, clock, store }: LabelScope,
  workspace: WorkspaceId,
  id: SessionId,
  log: SessionLog | undefined,
): Promise<SessionRecord | undefined> {
  const look = async (): Promise<SessionRecord | undefined> => {
    const record = await store.session(id)
    return record?.workspace === workspace ? record : undefined
  }
  if (!log || log.isNew()) return look()
  const subscribe = (wake: () => void) => bus.subscribe(wake)
  return lookUntil({ clock, look, subscribe, pollMs: LOOK_EVERY_MS, timeoutMs: PATIENCE_MS })
}
