import { toErrorMessage } from "./error.ts"
import { systemCodeOf } from "./system-error.ts"

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no folder can be made there",
  ENOTDIR: "a part of that path is a file",
  EACCES: "it may not be written",
  EPERM: "it may not be written",
  EROFS: "it lies on a read-only disk",
  ENOSPC: "the disk is full",
}

/** Says why a folder cannot be made or written. */
export function describeFolderProblem(error: unknown): string {
  return REASONS[String(systemCodeOf(error))] ?? toErrorMessage(error)
}
