import { join } from "node:path"
import type { TaskId } from "../../task/id.ts"

/** Where one run keeps its output and what its processes leave behind. Folders are 0700, files 0600. */
export interface RunPaths {
  readonly taskDirectory: string
  readonly directory: string
  /** Both streams of all its processes and what its tool wrote, in the order it happened. */
  readonly output: string
  /** Which absolute offset the output file begins at. Absent: 0. */
  readonly book: string
  /** There while the processes are held for the cap. */
  readonly paused: string
}

export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600

export function toRunPaths(spoolDirectory: string, taskId: TaskId, run: number): RunPaths {
  const taskDirectory = join(spoolDirectory, taskId)
  const directory = join(taskDirectory, String(run))
  return {
    taskDirectory,
    directory,
    output: join(directory, "output"),
    book: join(directory, "base"),
    paused: join(directory, "paused"),
  }
}

export function toProcessName(number: number, launch: number): string {
  return launch === 1 ? `process-${number}` : `process-${number}-launch-${launch}`
}
