import { toErrorMessage } from "../../base/error.ts"
import type { Using } from "./scope.ts"

/** Does what nobody has to wait for or give up anything for: if it fails, that is logged. */
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
