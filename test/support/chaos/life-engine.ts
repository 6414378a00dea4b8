import type { Clock } from "../../../src/base/clock.ts"
import type { Engine } from "../../../src/task/engine.ts"
import { openStore } from "../test-engine.ts"

/** Opens a folder's store as one of several successive processes: all but the newest count as dead. */
export function openLifeEngine(
  directory: string,
  number: number,
  clock: Clock,
  newest: () => number = () => number,
): Promise<Engine> {
  return openStore(directory, { clock, holder: { life: number }, isHolderAlive: ({ life }) => life === newest() })
}
