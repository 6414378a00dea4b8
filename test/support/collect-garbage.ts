import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Collects garbage now. What the running code still refers to stays. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
}
