import type { JsonValue } from "../../base/json.ts"
import { kindOf } from "../../plugin/tool.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { Question } from "../../plugin/person-port.ts"
import type { StopRequest } from "../../plugin/stop-request.ts"
import type { SessionId, TaskId, WaitId, WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import { sealOpenGroups } from "../group/open-group.ts"
import { askPerson } from "../ask/ask-person.ts"
import { restRun } from "../run/yield-slots.ts"
import { abortEarly } from "../run/stop-run.ts"
import type { ExecuteScope } from "../run/scope.ts"
import { beginTurn, type TurnStart, type TurnBody } from "../turn/turn-run.ts"
import { deleteSession, type ReadDocuments } from "../stop/delete-session.ts"
import { closeSession, endTurn, endUnkeptTurn } from "../stop/lifetimes.ts"
import { stripConsumed } from "../result/retention.ts"
import { answerWait } from "../ask/answer-wait.ts"
import { toStopCause } from "../stop/cancel.ts"

export type SessionCommands = ReturnType<typeof createSessionCommands>

/** Commands of the runner that conversations need beside those over tasks. */
export function createSessionCommands(scope: ExecuteScope) {
  function findRunHere(id: TaskId): Pick<TaskRecord, "kind" | "lifetime"> | undefined {
    const active = scope.active.get(id)
    if (active?.standing.in !== "background") return undefined
    return { kind: kindOf(active.call.tool), lifetime: active.call.lifetime }
  }

  return {
    /**
     * A task that was asked for in another folder, or on another machine, is not to run here although it is answered,
     * or begun anew, here. Said before that, in a runner that takes its own work alone; others take what they have the
     * folder of.
     */
    leaveToOthers: (taskId: TaskId): void => scope.queue.own?.leave(taskId),
    /** `true` or `false` to an approval; what is no answer to the question is refused as `invalid_input`. */
    answer: (waitId: WaitId, answer: JsonValue, answeredBy: string, workspace?: WorkspaceId) =>
      answerWait(scope, waitId, answer, answeredBy, workspace),
    /** Asks in the inbox, for a run in the background: nobody waits for it, so nobody is interrupted. */
    askPerson: (run: AskingRun, question: Question, signal: AbortSignal) => askPerson(scope, run, question, signal),
    /** True if this process has written a task or a group of the session. */
    hasWorkOf: (session: SessionId) => scope.written.sessions.has(session),
    /** Seals the open groups of a session, after a turn: nobody adds to them any more. */
    sealGroups: (session: SessionId) => sealOpenGroups(scope, session),
    beginTurn: (start: TurnStart, body: TurnBody) => beginTurn(scope, start, body),
    /** Until the returned function is called, the run and those above it hold no slot, and their time stands still. */
    rest: (id: TaskId) => restRun(scope, id),
    /** True if a run of the task is in this process now. */
    runsHere: (id: TaskId) => findRunHere(id) !== undefined,
    /** The run of the task in this process, without asking the store; undefined: it has none. */
    findRunHere,
    /** Ends the work on a turn that runs here, at once. Its stop is still to be stored: see `cancel`. */
    abortTurn(turn: TaskId, request: StopRequest): void {
      const active = scope.active.get(turn)
      if (active) abortEarly(active, toStopCause(scope, request))
    },
    endTurn: (turn: TaskId) => endTurn(scope, turn),
    /** Stops what was to live no longer than the turn that this session, which is not kept, has just had. */
    endUnkeptTurn: (session: SessionId) => endUnkeptTurn(scope, session),
    closeSession: (session: SessionId) => closeSession(scope, session),
    /** These documents go with it. */
    deleteSession: (session: SessionId, readDocuments?: ReadDocuments) => deleteSession(scope, session, readDocuments),
    /** Takes output and payload of what the session has used away at once; returns of how many tasks. */
    stripConsumed: (session: SessionId) => stripConsumed(scope, session),
  }
}
