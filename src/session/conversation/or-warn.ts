import { toErrorMessage } from "../../base/error.ts"
import type { Using } from "./scope.ts"

/** Does work whose failure must not fail anything else: an error is only logged. */
export async function orWarn(
  { log }: Using<"log">,
  message: string,
  fields: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.warn(message, { ...fields, error: toErrorMessage(error) })
  }
}
