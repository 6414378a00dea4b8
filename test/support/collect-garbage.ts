import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Frees all that nobody holds, as far as this moment's own work lets go of it. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
}
