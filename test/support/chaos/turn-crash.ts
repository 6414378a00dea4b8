import type { Engine } from "../../../src/task/engine.ts"
import type { Operation } from "../../../src/task/operation.ts"
import type { CommitOptions } from "../../../src/task/store.ts"
import { type CrashPoint, describeCrash, type Life } from "./mortal-engine.ts"

/** `unsaved`: from the n-th commit on nothing becomes durable, and the process acts a while longer before it dies. */
export type ProcessCrash = CrashPoint | { readonly at: "unsaved"; readonly number: number }

/** `power`: from the n-th commit on the disk gets nothing. What does not wait for it is answered all the same. */
export type TurnCrash = ProcessCrash | { readonly at: "power"; readonly number: number }

export function describeTurnCrash(crash: TurnCrash): string {
  if (crash.at === "unsaved") return `with nothing saved from commit ${crash.number} on`
  if (crash.at === "power") return `with nothing on disk from commit ${crash.number} on`
  return describeCrash(crash)
}

/** More turns of the event loop than anything takes that waits for no commit. */
const LAST_MOMENTS = 12

type Commit = (operations: readonly Operation[], options?: CommitOptions) => Promise<readonly unknown[]>

const never = <Value>(): Promise<Value> => new Promise(() => {})

/** What is done without waiting for the commit happens all the same: it must not matter that the commit is lost. */
export function forgetFrom(engine: Engine, life: Life, number: number): Engine {
  let commits = 0
  return withCommit(engine, (save) => (operations, options) => {
    commits += 1
    if (commits < number) return save(operations, options)
    if (commits === number) dieAfter(life, LAST_MOMENTS)
    return never()
  })
}

/** `keepDisk` keeps the store as it is, for whoever comes when the power is back. */
export function losePowerFrom(engine: Engine, life: Life, number: number, keepDisk: () => void): Engine {
  const before: Promise<unknown>[] = []
  let commits = 0
  let isKept: Promise<void> | undefined
  let isDying = false

  return withCommit(engine, (save) => async (operations, options) => {
    commits += 1
    if (commits < number) {
      const answer = save(operations, options)
      before.push(answer)
      return answer
    }
    isKept ??= Promise.allSettled(before).then(keepDisk)
    await isKept
    if (options?.waitsForDisk === false) return save(operations, options)
    if (!isDying) dieAfter(life, LAST_MOMENTS)
    isDying = true
    return never()
  })
}

function withCommit(engine: Engine, toCommit: (save: Commit) => Commit): Engine {
  const commit = toCommit(engine.store.commit)
  const store = new Proxy(engine.store, {
    get: (target, name) => (name === "commit" ? commit : (Reflect.get(target, name) as unknown)),
  })
  return { ...engine, store }
}

function dieAfter(life: Life, moments: number): void {
  if (moments === 0) life.end()
  else setImmediate(dieAfter, life, moments - 1)
}
