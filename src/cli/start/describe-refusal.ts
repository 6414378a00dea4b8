import { toErrorMessage } from "../../base/error.ts"

/** Without a working folder Node says only `uv_cwd`. The first error is the cause of errors during cleanup. */
export function describeRefusal(error: unknown): string {
  if (error instanceof SuppressedError) return describeRefusal(error.suppressed)
  const isGone = error instanceof Error && "syscall" in error && error.syscall === "uv_cwd"
  return isGone
    ? "The folder you are in is not there any more. Go to another one, and start again."
    : toErrorMessage(error)
}
