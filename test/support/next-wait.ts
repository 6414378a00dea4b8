import type { Engine } from "../../src/task/engine.ts"

/** Resolves when somebody begins to wait for tasks: what it waits for is known then, and every end of it is heard. */
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
