import type { JsonValue } from "../../base/json.ts"
import { kindOf } from "../../plugin/tool.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import type { StopRequest } from "../../plugin/stop-request.ts"
import type { GroupRecord } from "../../task/group.ts"
import { toGivenId, toGivenWorkspace } from "../../task/given-id.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { RunReference } from "../../task/operation.ts"
import type { TaskRecord } from "../../task/record.ts"
import { sealOpenGroups } from "../group/open-group.ts"
import { askPerson } from "../ask/ask-person.ts"
import { noteFound } from "../run/begun-below.ts"
import { restRun } from "../run/yield-slots.ts"
import { abortEarly } from "../run/stop-run.ts"
import type { ExecuteScope } from "../run/scope.ts"
import { type BegunTurn, beginTurn, type TurnStart, type TurnBody } from "../turn/turn-run.ts"
import { deleteIdleSessions, deleteSession, type IdleSince, type ReadDocuments } from "../stop/delete-session.ts"
import { closeSession, endUnkeptTurn } from "../stop/lifetimes.ts"
import { stripConsumed } from "../result/retention.ts"
import { answerWait } from "../ask/answer-wait.ts"
import { toStopCause } from "../stop/cancel.ts"

/** Commands of the runner that conversations need beside those over tasks. */
export interface SessionCommands {
  /**
   * Answers or begins anew, by `write`, a run that was asked for in another folder, or on another machine: the run is not to
   * run here. Needed only in a runner that takes its own work alone; others take the tasks whose folder they have.
   */
  leaveToOthers<Result>(run: Pick<RunReference, "taskId" | "run">, write: () => Promise<Result>): Promise<Result>
  /**
   * Answers a wait. An approval takes `true` and `false`, "yes" and "no", and a no that says why. What is no answer to the
   * question is refused as `invalid_input`. `answeredBy` is written down with it; default `person`.
   */
  answer(waitId: string, answer: JsonValue, answeredBy?: string, workspace?: string): Promise<TaskRecord>
  /** Asks in the inbox for a run in the background: nobody waits for that run, so nobody is interrupted. */
  askPerson(run: AskingRun, question: Question, signal: AbortSignal): Promise<PersonAnswer>
  /** True if this process has written a task or a group of the session. */
  hasWorkOf(session: SessionId): boolean
  /** Seals the open groups of a session, after a turn: nobody adds to them any more. */
  sealGroups(session: SessionId): Promise<readonly GroupRecord[]>
  beginTurn(start: TurnStart, body: TurnBody): Promise<BegunTurn>
  /** Until the returned function is called, the run and those above it hold no slot, and their time stands still. */
  rest(id: TaskId): () => void
  /** True if a run of the task is in this process now. */
  runsHere(id: TaskId): boolean
  /** The run of the task in this process, without asking the store. Undefined when there is none. */
  findRunHere(id: TaskId): RunHere | undefined
  /** Records that a turn which an earlier claim had begun, before a crash, is below this call. */
  noteFound(call: TaskId, turn: TaskId): void
  /** Ends the work on a turn that runs here, at once. The caller must still store the stop: see `cancel`. */
  abortTurn(turn: TaskId, request: StopRequest): void
  /** Stops the tasks of lifetime `turn` of a session that is not kept, when its turn has ended. */
  endUnkeptTurn(session: SessionId): Promise<void>
  closeSession(session: SessionId): Promise<void>
  /** The documents of `readDocuments` are removed with the session. */
  deleteSession(session: SessionId, readDocuments?: ReadDocuments): Promise<void>
  /**
   * Removes sessions with their ended tasks, and these documents, unless one of the sessions was used since that time or
   * has a live task: then nothing is removed. True if they are gone.
   */
  deleteIdleSessions(sessions: readonly SessionId[], idle: IdleSince): Promise<boolean>
  /** Takes away at once the output and payload of results that the session has used. Returns the number of tasks. */
  stripConsumed(session: SessionId): Promise<number>
}

type RunHere = Pick<TaskRecord, "kind" | "lifetime">

export function createSessionCommands(scope: ExecuteScope): SessionCommands {
  function findRunHere(id: TaskId): RunHere | undefined {
    const active = scope.active.get(id)
    if (active?.standing.in !== "background") return undefined
    return { kind: kindOf(active.call.tool), lifetime: active.call.lifetime }
  }

  return {
    async leaveToOthers(run, write) {
      // Before the write: directly after it the run may be offered here.
      const takeBack = scope.queue.own?.leave(run)
      try {
        return await write()
      } catch (error) {
        takeBack?.()
        throw error
      }
    },
    answer: async (waitId, answer, answeredBy = "person", workspace) =>
      answerWait(scope, toGivenId("wait", waitId, "waitId"), answer, answeredBy, toGivenWorkspace(workspace)),
    askPerson: (run, question, signal) => askPerson(scope, run, question, signal),
    hasWorkOf: (session) => scope.written.sessions.has(session),
    sealGroups: (session) => sealOpenGroups(scope, session),
    beginTurn: (start, body) => beginTurn(scope, start, body),
    rest: (id) => restRun(scope, id),
    runsHere: (id) => findRunHere(id) !== undefined,
    findRunHere,
    abortTurn(turn, request) {
      const active = scope.active.get(turn)
      if (active) abortEarly(active, toStopCause(scope, request))
    },
    endUnkeptTurn: (session) => endUnkeptTurn(scope, session),
    noteFound: (call, turn) => noteFound(scope, call, turn),
    closeSession: (session) => closeSession(scope, session),
    deleteSession: (session, readDocuments) => deleteSession(scope, session, readDocuments),
    deleteIdleSessions: (sessions, idle) => deleteIdleSessions(scope, sessions, idle),
    stripConsumed: (session) => stripConsumed(scope, session),
  }
}
