import type { Clock } from "../../../src/base/clock.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { openStore } from "../test-engine.ts"

/** The store of a folder as one of several processes opens it, one after the other: all but the newest are dead. */
export function openLifeEngine(
  directory: string,
  number: number,
  clock: Clock,
  newest: () => number = () => number,
): Promise<Engine> {
  return openStore(directory, { clock, holder: { life: number }, isHolderAlive: ({ life }) => life === newest() })
}
