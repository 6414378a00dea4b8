import { dirname } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import type { ProcessExit } from "../../plugin/process.ts"
import { readFacts } from "../process/process-file.ts"
import type { RunPaths } from "./run-paths.ts"
import { statfsSync } from "node:fs"

/**
 * A command that failed while the disk is full failed for that, as far as anyone can see: its own writes return the
 * error to it and not to us. One that succeeded did not need the space.
 */
export function requireSpace(paths: RunPaths, exit: ProcessExit): void {
  if (exit.exitCode === 0 || !isDiskFull(paths.directory)) return
  throw toDiskFullError(paths.directory)
}

/** Why a wrapper could not claim the right to run its command. The command did not run. */
export function toClaimError(path: string): MeanwhileError {
  if (readFacts(path)?.claim === "forbidden") {
    return new MeanwhileError(
      "stale_claim",
      "Another Meanwhile process has taken this run over; its command was not started.",
    )
  }
  const directory = dirname(path)
  if (isDiskFull(directory)) return toDiskFullError(directory)
  const message = `The command was not started: its wrapper could not write to ${path} or was killed.`
  return new MeanwhileError("store_unavailable", message, { path })
}

export function toOverLimitError(limitBytes: number): MeanwhileError {
  const message = `It was stopped while Meanwhile was not running, because it printed more than ${limitBytes} bytes. Let it print less, or raise its output limit.`
  return new MeanwhileError("limit_exceeded", message, { limitBytes })
}

function toDiskFullError(directory: string): MeanwhileError {
  const message = `The disk that holds ${directory} is full, so the task's output cannot be written. Free some space and run it again.`
  return new MeanwhileError("disk_full", message, { directory })
}

/** True if a write there must fail for lack of space or inodes. */
function isDiskFull(directory: string): boolean {
  const { bfree, bavail, files, ffree } = statfsSync(directory)
  const freeBlocks = process.getuid?.() === 0 ? bfree : bavail
  return freeBlocks === 0 || (files > 0 && ffree === 0)
}
