import type { SessionId, TaskId } from "../../../../task/id.ts"
import type { NoticeKey, NoticeKind } from "../../../../task/notice.ts"
import type { AskingStep } from "../../../../task/record.ts"
import type { NoticeTable, StoredNotice } from "../../../rules/tables.ts"
import { type Changed, createLog, createMemory, type UndoLog } from "./memory.ts"
import type { TaskRows } from "./task-rows.ts"
import { missing, toKey, toStepKey } from "./wants.ts"

/** Changes to a task's notices, loaded or not. They are written before the changes to loaded ones. */
type NoticeSweep =
  | { readonly sweep: "supersede"; readonly task: number; readonly kind: NoticeKind; readonly at: number }
  | { readonly sweep: "remove"; readonly task: number }
  | { readonly sweep: "readdress"; readonly task: number; readonly session: SessionId | null }

export interface NoticeRows {
  readonly table: NoticeTable
  learn(notice: StoredNotice): void
  /** Records that all notices of the task are learned. */
  learnTask(id: TaskId): void
  /** Records that all notices claimed by the step are learned. */
  learnClaims(step: AskingStep): void
  sweeps(): readonly NoticeSweep[]
  changes(): readonly Changed<StoredNotice>[]
}

export function createNoticeRows(undo: UndoLog, tasks: TaskRows): NoticeRows {
  const notices = createMemory<StoredNotice>(undo)
  const wholeTasks = createMemory<true>(undo)
  const steps = createMemory<true>(undo)
  const sweeps = createLog<NoticeSweep>(undo)

  function set(notice: StoredNotice): void {
    notices.set(toNoticeKey(notice), notice)
  }

  /** The loaded notices of the task. */
  function of(task: number): readonly StoredNotice[] {
    return notices.values().filter((notice) => notice.task === task)
  }

  function isWhole(id: TaskId): boolean {
    if (wholeTasks.isKnown(id)) return true
    const task = tasks.table.find(id)
    return !task || tasks.isNew(task.number)
  }

  const table: NoticeTable = {
    find(key) {
      const place = toNoticeKey(key)
      if (!notices.isKnown(place) && !isWhole(key.taskId)) throw missing("noticesOfTask", key.taskId)
      return notices.get(place)
    },
    claimedBy(step) {
      const wanted = toStepKey(step)
      if (!steps.isKnown(wanted)) throw missing("claimsOfStep", step)
      return notices.values().filter((notice) => notice.state === "claimed" && toStepKey(notice.claimedBy) === wanted)
    },
    insert({ number, details, course }, kind, at, notify = details.notify) {
      const { id: taskId, workspace, session, traceId } = details
      const key = { taskId, run: course.run, kind }
      set({ ...key, workspace, session, notify, at, traceId, state: "pending", task: number })
    },
    save: (task, notice) => set({ ...notice, task }),
    supersede(task, kind, at) {
      sweeps.add({ sweep: "supersede", task, kind, at })
      for (const notice of of(task))
        if (notice.kind === kind && !("settledAt" in notice)) set({ ...toUnclaimed(notice), settledAt: at })
    },
    remove(task) {
      sweeps.add({ sweep: "remove", task })
      for (const notice of of(task)) notices.set(toNoticeKey(notice), undefined)
    },
    readdress(task, session) {
      sweeps.add({ sweep: "readdress", task, session })
      for (const notice of of(task)) set({ ...notice, session })
    },
  }

  return {
    table,
    learn: (notice) => notices.learn(toNoticeKey(notice), notice),
    learnTask: (id) => wholeTasks.learn(id, true),
    learnClaims: (step) => steps.learn(toStepKey(step), true),
    sweeps: sweeps.entries,
    changes: notices.changes,
  }
}

function toNoticeKey({ taskId, run, kind }: NoticeKey): string {
  return toKey([taskId, run, kind])
}

function toUnclaimed({ taskId, run, kind, workspace, session, notify, at, traceId, task }: StoredNotice) {
  return { taskId, run, kind, workspace, session, notify, at, traceId, task, state: "superseded" } as const
}
