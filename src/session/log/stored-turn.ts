import type { JsonObject } from "../../base/json.ts"
import type { TurnRun } from "../../runner/turn/turn-run.ts"
import type { Operation, RunReference } from "../../task/operation.ts"
import type { LogChange, OpenTurn, TurnChange } from "./open-turn.ts"

/** Turns changes of a log into what the store is asked to write. */
export interface TurnWriter {
  toOperations(change: LogChange): readonly Operation[]
  /** Says that memory and store may differ: the log must be read again. */
  markBroken(): void
}

export function createStoredTurn(run: TurnRun, writer: TurnWriter, metadata: JsonObject = {}): OpenTurn {
  const { taskId } = run
  return {
    taskId,
    metadata,
    signal: run.signal,
    traceId: run.traceId ?? "",
    askedBy: run.parentTask,
    callParent: taskId,
    isContinued: run.isContinued,
    isHandedBack: () => run.isHandedBack(),
    stopReason: () => run.stopReason(),
    askingStep: (key) => ({ taskId, run: run.run, key }),
    steps: () => run.steps(),
    requireOwned: () => run.requireOwned(),
    async save(change, options) {
      const hasEntries = change.entries.length > 0 || change.data !== undefined
      const operations = hasEntries ? writer.toOperations(change) : []
      try {
        await run.commit((reference) => [...operations, ...toStepOperations(reference, change)], options)
      } catch (error) {
        writer.markBroken()
        throw error
      }
    },
    finish(change) {
      const operations = writer.toOperations(change)
      run.endWith((reference) => [...operations, ...toSpentOperations(reference, change)])
    },
  }
}

/** At least one of them names the run, so that nothing is written once the turn is another worker's. */
function toStepOperations(run: RunReference, { started = [], finished = [], spent }: TurnChange): readonly Operation[] {
  const operations: Operation[] = [
    ...started.map(({ key, onCrash }) => ({ op: "step.start", run, key, onCrash }) as const),
    ...finished.map((step) => ({ op: "step.finish", run, ...step }) as const),
  ]
  if (operations.length === 0 && !spent) operations.push({ op: "task.note", run, facts: [] })
  return [...operations, ...toSpentOperations(run, { spent })]
}

function toSpentOperations(run: RunReference, { spent }: Pick<TurnChange, "spent">): readonly Operation[] {
  return spent ? [{ op: "task.note", run, facts: [{ type: "task.spent", usage: spent }] }] : []
}
