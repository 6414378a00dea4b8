import { toErrorMessage } from "../../base/error.ts"

/** Explains `uv_cwd`, Node's only word for a missing working folder. Of errors during cleanup, the first error counts. */
export function describeRefusal(error: unknown): string {
  if (error instanceof SuppressedError) return describeRefusal(error.suppressed)
  const isGone = error instanceof Error && "syscall" in error && error.syscall === "uv_cwd"
  return isGone
    ? "The folder you are in is not there any more. Go to another one, and start again."
    : toErrorMessage(error)
}
