import type { Engine } from "../../../src/task/engine.ts"
import type { Operation } from "../../../src/task/operation.ts"
import type { CommitOptions } from "../../../src/task/store.ts"
import { type CrashPoint, describeCrash, type Life } from "./mortal-engine.ts"

/** `unsaved`: from the n-th commit on nothing becomes durable, and the process goes on for a moment before it dies. */
export type ProcessCrash = CrashPoint | { readonly at: "unsaved"; readonly number: number }

/** `power`: from the n-th commit on nothing reaches the disk. Commits that do not wait for the disk are answered all the same. */
export type TurnCrash = ProcessCrash | { readonly at: "power"; readonly number: number }

export function describeTurnCrash(crash: TurnCrash): string {
  if (crash.at === "unsaved") return `with nothing saved from commit ${crash.number} on`
  if (crash.at === "power") return `with nothing on disk from commit ${crash.number} on`
  return describeCrash(crash)
}

/** More turns of the event loop than any work needs that does not wait for a commit. */
const LAST_MOMENTS = 12

type Commit = (operations: readonly Operation[], options?: CommitOptions) => Promise<readonly unknown[]>

const never = <Value>(): Promise<Value> => new Promise(() => {})

/** Loses all commits from the n-th on. Work that does not wait for them still happens, and must do no harm. */
export function forgetFrom(engine: Engine, life: Life, number: number): Engine {
  let commits = 0
  return withCommit(engine, (save) => (operations, options) => {
    commits += 1
    if (commits < number) return save(operations, options)
    if (commits === number) dieAfter(life, LAST_MOMENTS)
    return never()
  })
}

/** `keepDisk` copies the store as it is on the disk, for the life after the power failure. */
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
