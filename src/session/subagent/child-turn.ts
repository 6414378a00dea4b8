import { ERROR_CODES, type ErrorCode, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Using } from "../conversation/scope.ts"

const LOOK_AGAIN_MS = 60_000

/** Names the n-th message that a run of an agent task sends, so that the run finds exactly that turn after a crash. */
export function toTurnKey(session: SessionId, run: number, place: number): string {
  return `agent/${session}/${run}/${place}`
}

/** Undefined when it was not begun. */
export async function findTurn(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  idempotencyKey: string,
): Promise<TaskId | undefined> {
  const { items } = await store.tasks({ workspace, idempotencyKey, kinds: ["turn"] }, { limit: 1 })
  return items[0]?.id
}

/** The end of a turn that goes on by itself, or has ended. Stops it when the one who asked is stopped. */
export async function waitForTurn(
  scope: Using<"log" | "runner">,
  turn: { readonly id: TaskId; readonly workspace: WorkspaceId; readonly name: string },
  { left, stopped }: { readonly left: AbortSignal; readonly stopped: AbortSignal },
): Promise<TaskRecord> {
  const { id, workspace, name } = turn
  const stop = (): void => {
    const request = { by: "lifetime", reason: toErrorMessage(stopped.reason) } as const
    scope.runner.cancel(id, request, workspace).catch((error: unknown) => {
      scope.log.warn("a subagent's turn could not be stopped", { turn: id, error: toErrorMessage(error) })
    })
  }
  if (stopped.aborted) stop()
  stopped.addEventListener("abort", stop)
  try {
    const ended = await waitForTask(scope, id, workspace, left)
    requireCompleted(ended, name)
    return ended
  } finally {
    stopped.removeEventListener("abort", stop)
  }
}

/** Waits for a task as long as it takes, or until the signal aborts. */
export async function waitForTask(
  { runner }: Using<"runner">,
  id: TaskId,
  workspace: WorkspaceId,
  signal: AbortSignal,
): Promise<TaskRecord> {
  for (;;) {
    const { task } = await runner.result(id, { waitMs: LOOK_AGAIN_MS, signal }, workspace)
    if (isTerminal(task.status)) return task
    signal.throwIfAborted()
  }
}

/** Throws the failure of a turn that ended elsewhere or before a crash. */
function requireCompleted(turn: TaskRecord, name: string): void {
  switch (turn.status) {
    case "completed":
      return
    case "failed":
    case "interrupted":
      throw new MeanwhileError(toErrorCode(turn.failure.code), turn.failure.message)
    default: {
      const why = "stop" in turn ? `: ${turn.stop.reason}` : ""
      throw new MeanwhileError("closed", `The subagent ${name} was stopped${why}.`)
    }
  }
}

function toErrorCode(code: string): ErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? "wrong_state"
}
