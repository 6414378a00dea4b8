import { isMeanwhileError } from "../../../base/error.ts"
import type { Operation } from "../../../task/operation.ts"
import type { Answer } from "../../rules/writer.ts"
import type { PostgresDispatcher } from "../queue/dispatcher.ts"
import type { Claim, OpenTakes } from "./open-takes.ts"

type Commit = (operations: readonly Operation[]) => Promise<readonly Answer[]>

/** The dispatcher learns what became of its offers. What an open take has locked is claimed there. */
export function createWatchedCommit(
  commit: Commit,
  dispatcher: PostgresDispatcher,
  takes: Pick<OpenTakes, "claim">,
): Commit {
  async function commitClaims(operations: readonly Operation[], claims: readonly Claim[]): Promise<readonly Answer[]> {
    const endings = claims.map(({ taskId, run }) => dispatcher.onClaim(taskId, run))
    try {
      const [claim] = operations.length === 1 ? claims : []
      const answers = await ((claim && takes.claim(claim, operations)) ?? commit(operations))
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

function toClaim(operation: Operation): Claim | readonly [] {
  return operation.op === "task.apply" && operation.event.type === "task.started" ? operation.run : []
}
