import type { JsonObject } from "../../../src/base/json.ts"
import type { Engine } from "../../../src/task/engine.ts"
import type { Operation } from "../../../src/task/operation.ts"
import type { CommitOptions, TaskStore } from "../../../src/task/store.ts"

/** Where a life ends: before the n-th commit or effect, or after it and before it is answered. */
export interface CrashPoint {
  readonly at: "commit" | "effect"
  readonly number: number
  readonly when: "before" | "after"
}

export const describeCrash = ({ at, number, when }: CrashPoint): string => `${when} ${at} ${number}`

/**
 * One life of a process, inside a process that goes on. Once a life is over, none of its requests is answered. So it leaves
 * behind what a killed process leaves behind: what was durable, and nothing else.
 */
export interface Life {
  readonly number: number
  readonly isOver: boolean
  readonly over: Promise<void>
  commits: number
  effects: number
  readonly crash: CrashPoint | undefined
  end(): void
  /** Never settles once the life is over. */
  guard<Value>(promise: Promise<Value>): Promise<Value>
}

const never = <Value>(): Promise<Value> => new Promise(() => {})

export function createLife(number: number, crash?: CrashPoint): Life {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  let isOver = false
  return {
    number,
    get isOver() {
      return isOver
    },
    over,
    commits: 0,
    effects: 0,
    crash,
    end() {
      isOver = true
      resolve()
    },
    guard: (promise) =>
      new Promise((settle, reject) => {
        promise.then(
          (value) => {
            if (!isOver) settle(value)
          },
          (error: unknown) => {
            if (!isOver) reject(error instanceof Error ? error : new Error(String(error)))
          },
        )
      }),
  }
}

/** True when the effect may go on. Ends the life at its crash point. */
export function liveThroughEffect(life: Life, effect: () => void): boolean {
  if (life.isOver) return false
  life.effects += 1
  const isHere = life.crash?.at === "effect" && life.crash.number === life.effects
  if (isHere && life.crash?.when === "before") {
    life.end()
    return false
  }
  effect()
  if (isHere) life.end()
  return !life.isOver
}

/** The engine as a process that may die sees it. */
export function createMortalEngine(engine: Engine, life: Life): Engine {
  const whileAlive = (listener: () => void) => (): void => {
    if (!life.isOver) listener()
  }
  return {
    name: engine.name,
    store: createMortalStore(engine.store, life),
    dispatcher: {
      take: (request) => life.guard(engine.dispatcher.take(request)),
      decline: (offers) => {
        if (!life.isOver) engine.dispatcher.decline(offers)
      },
      onOffer: (listener) => engine.dispatcher.onOffer(whileAlive(listener)),
      nextDueInMs: () => life.guard(engine.dispatcher.nextDueInMs()),
    },
    bus: {
      subscribe: (listener) =>
        engine.bus.subscribe((wake) => {
          if (!life.isOver) listener(wake)
        }),
      subscribeTask: (id, listener) =>
        engine.bus.subscribeTask(id, (mayBeOver) => {
          if (!life.isOver) listener(mayBeOver)
        }),
    },
    now: () => engine.now(),
    close: () => life.guard(engine.close()),
    [Symbol.asyncDispose]: () => life.guard(engine.close()),
  }
}

function createMortalStore(store: TaskStore, life: Life): TaskStore {
  function commit(operations: readonly Operation[], options?: CommitOptions): Promise<readonly unknown[]> {
    if (life.isOver) return never()
    life.commits += 1
    const isHere = life.crash?.at === "commit" && life.crash.number === life.commits
    if (isHere && life.crash?.when === "before") {
      life.end()
      return never()
    }
    const own = operations.map((operation) => withLife(operation, life.number))
    const answer = store.commit(own, options)
    if (!isHere) return life.guard(answer)
    answer.then(life.end, life.end)
    return never()
  }
  return new Proxy(store, {
    get(target, name) {
      if (name === "commit") return commit
      const method = Reflect.get(target, name) as (...parameters: unknown[]) => Promise<unknown>
      return (...parameters: unknown[]) => (life.isOver ? never() : life.guard(method(...parameters)))
    },
  })
}

/** Adds the life to a worker's lease: the lives share a process, which would make each dead life look alive. */
function withLife(operation: Operation, life: number): Operation {
  if (operation.op !== "lease.take") return operation
  const data: JsonObject = { ...operation.data, life }
  return { ...operation, data }
}
