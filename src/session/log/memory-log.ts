import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import { actFreely } from "../../plugin/context.ts"
import { createTaskId, type SessionId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { SessionLabels } from "../../task/session.ts"
import { applyChange, createLogView } from "./log-state.ts"
import type { LogState, OpenTurn, SessionLog, TurnOpening } from "./session-log.ts"
import { addSaid, type SaidText } from "./recall-said.ts"
import type { SessionData } from "./session-data.ts"

const MOST_RECALLED = 100

export interface MemoryLogOptions {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly data: SessionData
  readonly labels: SessionLabels
  readonly clock: Clock
  /** Called at the end of every turn, however it ended. */
  readonly onTurnEnded: () => Promise<void>
}

/** A log that ends with the process. Nothing is written, and a turn is no task. */
export function createMemoryLog(options: MemoryLogOptions): SessionLog {
  const { id, workspace, data, clock, onTurnEnded } = options
  const createdAt = clock.now()
  let state: LogState = { data, history: [], position: 0, times: { createdAt, updatedAt: createdAt } }
  let said: readonly SaidText[] = []
  let { labels } = options
  const write: SessionLog["write"] = async (change) => {
    state = applyChange(state, change, clock.now())
    said = addSaid(said, change.entries).slice(-MOST_RECALLED)
  }

  function openTurn(turn: TaskId, { parentTask, traceId, current }: TurnOpening, metadata: JsonObject): OpenTurn {
    return {
      id: turn,
      taskId: null,
      metadata,
      signal: current.abort.signal,
      traceId,
      askedBy: parentTask,
      isContinued: false,
      isHandedBack: () => false,
      stopReason: () => current.reason,
      askingStep: () => undefined,
      steps: async () => [],
      act: actFreely,
      mayAct: () => true,
      save: write,
      saveSoon: (change) => void write(change),
      settle: async () => {},
      finish: (change) => void write(change),
    }
  }

  const own: Omit<SessionLog, keyof LogState> = {
    id,
    workspace,
    isKept: false,
    isNew: () => true,
    labels: () => labels,
    relabel: (changed) => void (labels = changed),
    amend(changed) {
      state = { ...state, data: { ...state.data, ...changed } }
    },
    paid: { count: () => 0, add() {}, settle: async () => {} },
    write,
    async turn(opening) {
      await opening.prepare?.()
      const beginning = await opening.toBeginning(state.history)
      await write(beginning)
      const turn = createTaskId()
      opening.onStored?.(turn)
      opening.onBegun?.(turn)
      try {
        return await opening.take(openTurn(turn, opening, { ...opening.metadata, ...beginning.metadata }))
      } finally {
        await onTurnEnded()
      }
    },
    recall: async ({ count }) => said.slice(-count),
    isBehind: () => false,
    refresh: async () => {},
  }
  return Object.assign(
    createLogView(() => state),
    own,
  )
}
