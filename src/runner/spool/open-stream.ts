import type { MeanwhileError } from "../../base/error.ts"
import type { ProcessIdentity } from "../process/identity.ts"
import { createOutputCap, type OutputCapOptions } from "./output-cap.ts"
import { createRunOutput } from "./run-output.ts"

export type OpenStream = ReturnType<typeof openStream>

/** The output of one stream of a run, and the cap on it. */
export function openStream(options: Omit<OutputCapOptions, "appender"> & { readonly owner: ProcessIdentity }) {
  const { paths, owner, limitBytes, isOurs, onFailure, onLost } = options
  const output = createRunOutput({
    paths,
    owner,
    limitBytes,
    onGrown: () => cap.check(),
    // While the store cannot be asked, output is kept: in a stream of its own it cannot mix with that of others.
    isOurs: () => isOurs().catch(() => true),
  })
  const cap = createOutputCap({
    ...options,
    appender: output.appender,
    onFailure(failure) {
      output.fail(failure)
      onFailure(failure)
    },
    onLost(failure) {
      output.fail(failure)
      onLost(failure)
    },
  })
  return {
    paths,
    output,
    cap,
    /** Resolves when all that was printed is in the files. */
    async close(): Promise<void> {
      await cap.close()
      await output.appender.flush().catch(() => undefined)
    },
    /** Touches the files no more. */
    abandon(reason: MeanwhileError): void {
      cap.abandon()
      output.abandon(reason)
    },
  }
}
