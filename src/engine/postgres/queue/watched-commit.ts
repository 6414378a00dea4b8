import { isMeanwhileError } from "../../../base/error.ts"
import type { Operation, RunReference } from "../../../task/operation.ts"
import type { Answer } from "../../rules/writer.ts"
import type { PostgresDispatcher } from "./dispatcher.ts"

type Commit = (operations: readonly Operation[]) => Promise<readonly Answer[]>

/** Tells the dispatcher how the claims of its offers ended. */
export function createWatchedCommit(commit: Commit, dispatcher: Pick<PostgresDispatcher, "onClaim">): Commit {
  async function commitClaims(operations: readonly Operation[], claims: readonly RunReference[]) {
    const endings = claims.map(({ taskId, run }) => dispatcher.onClaim(taskId, run))
    try {
      const answers = await commit(operations)
      for (const end of endings) end("claimed")
      return answers
    } catch (error) {
      const isLost = isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "not_found")
      for (const end of endings) end(isLost ? "lost" : "failed")
      throw error
    }
  }

  return (operations) => {
    const claims = operations.flatMap(toClaim)
    return claims.length === 0 ? commit(operations) : commitClaims(operations, claims)
  }
}

function toClaim(operation: Operation): RunReference | readonly [] {
  return operation.op === "task.apply" && operation.event.type === "task.started" ? operation.run : []
}
