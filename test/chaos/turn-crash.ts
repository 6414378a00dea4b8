import type { Engine } from "../../src/task/engine.ts"
import type { Operation } from "../../src/task/operation.ts"
import { type CrashPoint, describeCrash, type Life } from "./mortal-engine.ts"

/** `unsaved`: from the n-th commit on nothing becomes durable, and the process acts a while longer before it dies. */
export type TurnCrash = CrashPoint | { readonly at: "unsaved"; readonly number: number }

export const describeTurnCrash = (crash: TurnCrash): string =>
  crash.at === "unsaved" ? `with nothing saved from commit ${crash.number} on` : describeCrash(crash)

/** More turns of the event loop than anything takes that waits for no commit. */
const LAST_MOMENTS = 12

/** What is done without waiting for the commit happens all the same: it must not matter that the commit is lost. */
export function forgetFrom(engine: Engine, life: Life, number: number): Engine {
  let commits = 0
  const save = engine.store.commit as (operations: readonly Operation[]) => Promise<readonly unknown[]>
  function commit(operations: readonly Operation[]): Promise<readonly unknown[]> {
    commits += 1
    if (commits < number) return save(operations)
    if (commits === number) dieAfter(life, LAST_MOMENTS)
    return new Promise(() => {})
  }
  const store = new Proxy(engine.store, {
    get: (target, name) => (name === "commit" ? commit : (Reflect.get(target, name) as unknown)),
  })
  return { ...engine, store }
}

function dieAfter(life: Life, moments: number): void {
  if (moments === 0) life.end()
  else setImmediate(dieAfter, life, moments - 1)
}
