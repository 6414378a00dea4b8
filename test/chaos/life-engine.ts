import { join } from "node:path"
import type { Clock } from "../../src/base/clock.ts"
import { createEmbeddedEngine } from "../../src/engine/embedded/engine.ts"
import type { Engine } from "../../src/task/engine.ts"

/** The store of a folder as one of several processes opens it, one after the other: all but the newest are dead. */
export function openLifeEngine(
  directory: string,
  number: number,
  clock: Clock,
  newest: () => number = () => number,
): Promise<Engine> {
  return createEmbeddedEngine({
    path: join(directory, "store.sqlite"),
    synchronous: "normal",
    clock,
    holder: { life: number },
    isHolderAlive: (data) => data["life"] === newest(),
  })
}
