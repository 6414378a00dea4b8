import type { Engine } from "../../src/task/engine.ts"

/** Resolves at the next subscription to the bus: a wait that has begun knows its tasks by then, and hears every end. */
export function nextWait({ engine: { bus } }: { readonly engine: Pick<Engine, "bus"> }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { subscribe } = bus
  const hear: typeof subscribe = (listener) => {
    resolve()
    return subscribe(listener)
  }
  Object.assign(bus, { subscribe: hear })
  return promise.finally(() => Object.assign(bus, { subscribe }))
}
