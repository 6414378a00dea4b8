import type { TaskId } from "../../../task/id.ts"
import type { Operation } from "../../../task/operation.ts"
import type { Answer, Writer } from "../../rules/writer.ts"
import { answerWriters, type OnCommitted } from "./answer-writers.ts"
import { type AwaitedClaims, createAwaitedClaims } from "./awaited-claims.ts"
import type { Database, Query } from "../connection/database.ts"
import { type Naming, toNamedQuery } from "../connection/naming.ts"
import { isHeldUp } from "../connection/store-error.ts"
import { LOCK_TIMEOUT_MS } from "./group-commit.ts"
import type { JudgeLease } from "../read/judge-lease.ts"
import { learnLocked, type LockedTask } from "./load/lock-tasks.ts"
import type { Performed, PerformGroup } from "./perform-group.ts"
import type { QueuedRow } from "../queue/queued-rows.ts"
import type { Take, Takes } from "../queue/take.ts"
import { createWants } from "./working-set/wants.ts"
import { createWorkingSet } from "./working-set/working-set.ts"

/**
 * Takes whose transactions stay open for a moment: the claims that come right behind them are written in the same
 * transaction, with the locks that it has. A transaction that cannot be committed has taken nothing, and its claims go the
 * way of all others.
 */
export interface OpenTakes extends Takes {
  /** Of what does nothing but claim. Undefined: no open take has locked it. */
  claim(claim: Claim, operations: readonly Operation[]): Promise<readonly Answer[]> | undefined
  /** Leaves nothing open. */
  close(): Promise<void>
}

export interface Claim {
  readonly taskId: TaskId
  readonly run: number
}

export interface OpenTakesParts {
  readonly database: Database
  readonly judgeLease: JudgeLease
  readonly statementOf: Naming
  readonly performGroup: PerformGroup
  readonly onCommitted: OnCommitted
  /** The way of all others. */
  commit(operations: readonly Operation[]): Promise<readonly Answer[]>
}

/** The transaction in which the offers were taken was taken back. */
class TakenBack extends Error {
  override readonly name = "TakenBack"
}

export function createOpenTakes(parts: OpenTakesParts): OpenTakes {
  const { database, statementOf, performGroup, onCommitted } = parts
  const open = new Set<AwaitedClaims>()
  const running = new Set<Promise<void>>()
  let isClosed = false

  const takeIn: Takes["takeIn"] = (pull) => {
    const offered = Promise.withResolvers<readonly QueuedRow[]>()
    const claims = createAwaitedClaims()
    let hasOffered = false
    let attempt = Promise.withResolvers<"committed" | "taken_back">()

    const work = async (query: Query): Promise<Performed | undefined> => {
      attempt.resolve("taken_back")
      attempt = Promise.withResolvers()
      if (hasOffered) throw new TakenBack()
      const locked = new Map<TaskId, LockedTask>()
      const onLocked: Take["onLocked"] = (rows) => rows.forEach((row) => void locked.set(row.id, row))
      const rows = await pull({ query, isOpen: true, onLocked, ended: attempt.promise })
      hasOffered = true
      open.add(claims)
      offered.resolve(rows)
      const claimed = isClosed ? [] : await claims.collect(rows.flatMap(({ id }) => locked.get(id) ?? []))
      open.delete(claims)
      return claimed.length === 0 ? undefined : write(toNamedQuery(query, statementOf), claims, claimed)
    }
    const ended = database.transaction(work, { lockTimeoutMs: LOCK_TIMEOUT_MS }).then(
      (performed) => {
        attempt.resolve("committed")
        performed?.remember()
        answerWriters(claims.writers, performed?.outcomes ?? [], onCommitted)
      },
      (error: unknown) => {
        attempt.resolve("taken_back")
        offered.reject(error)
        open.delete(claims)
        sendElsewhere(claims.writers, error)
      },
    )
    running.add(ended)
    void ended.finally(() => running.delete(ended))
    return offered.promise
  }

  function write(query: Query, { writers }: AwaitedClaims, claimed: readonly LockedTask[]): ReturnType<PerformGroup> {
    const set = createWorkingSet(parts.judgeLease)
    for (const row of claimed) learnLocked(set, row)
    const operations = writers.map((writer) => writer.operations)
    return performGroup(query, operations, { set, wants: createWants(), locked: claimed.at(-1) })
  }

  /** What was taken back is free for the way of all others. */
  function sendElsewhere(writers: readonly Writer[], error: unknown): void {
    const isFree = error instanceof TakenBack || isHeldUp(error)
    for (const { operations, resolve, reject } of writers)
      if (isFree) parts.commit(operations).then(resolve, reject)
      else reject(error)
  }

  return {
    takeIn,
    claim({ taskId, run }, operations) {
      if (isClosed) return undefined
      const claims = open.values().find((each) => each.isOf(taskId, run))
      return claims && new Promise((resolve, reject) => claims.add(taskId, { operations, resolve, reject }))
    },
    decline(ids) {
      for (const claims of open) claims.decline(ids)
    },
    async close() {
      isClosed = true
      for (const claims of open) claims.stop()
      await Promise.all(running)
    },
  }
}
