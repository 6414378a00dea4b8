import { readdirSync } from "node:fs"
import { join } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import type { TaskId } from "../../task/id.ts"

/**
 * Where one run keeps its output and what its processes leave behind. Folders are 0700, files 0600. Files of output belong
 * to one stream: a claim that begins the run anew has files of its own, which no earlier holder of the run writes to.
 */
export interface RunPaths {
  readonly taskDirectory: string
  readonly directory: string
  /** The fence of the claim that began the stream. */
  readonly stream: number
  /** Standard output and error of all its processes and what its tool wrote, in the order it happened. */
  readonly output: string
  /** Says at which absolute offset the output file begins. Without this file: 0. */
  readonly book: string
  /** The names of the stream's segments begin with this. */
  readonly segmentPrefix: string
  /** Exists while the processes are suspended for a cut. */
  readonly paused: string
}

/** Names the process that prints here, if none of its commands does. */
export const OWNER_FILE = "owner"

export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600

export const FIRST_STREAM = 1

/** The paths of the run's first stream. */
export function toRunPaths(spoolDirectory: string, taskId: TaskId, run: number): RunPaths {
  const taskDirectory = toTaskDirectory(spoolDirectory, taskId)
  const directory = join(taskDirectory, String(run))
  return toStreamPaths({ taskDirectory, directory, paused: join(directory, "paused") }, FIRST_STREAM)
}

/** Refuses an id that would lead out of the spool: a store may have been written by somebody else. */
export function toTaskDirectory(spoolDirectory: string, taskId: TaskId): string {
  if (isTaskFolder(taskId)) return join(spoolDirectory, taskId)
  throw new MeanwhileError("store_damaged", "A task has an id that no Meanwhile has made: its files are left alone.")
}

export function isTaskFolder(name: string): name is TaskId {
  return /^[\w-]+$/.test(name)
}

export function toStreamPaths(
  { taskDirectory, directory, paused }: Pick<RunPaths, "taskDirectory" | "directory" | "paused">,
  stream: number,
): RunPaths {
  const prefix = stream === FIRST_STREAM ? "" : `${stream}-`
  return {
    taskDirectory,
    directory,
    paused,
    stream,
    output: join(directory, `${prefix}output`),
    book: join(directory, `${prefix}base`),
    segmentPrefix: `${prefix}segment-`,
  }
}

const STREAM_FILE = /^(?:(\d+)-)?(?:output|base|base\.next|segment-\d+)$/
const BOOK = /^(\d+)-base$/

/** The paths of the newest stream that a claim has begun. */
export function findNewestStream(paths: RunPaths): RunPaths {
  const streams = listNames(paths.directory).flatMap((name) => BOOK.exec(name)?.[1] ?? [])
  return toStreamPaths(paths, Math.max(FIRST_STREAM, ...streams.map(Number)))
}

/** The files of the streams before this one. */
export function listEarlierStreams({ directory, stream }: RunPaths): readonly string[] {
  return listNames(directory)
    .filter((name) => Number(STREAM_FILE.exec(name)?.[1] ?? FIRST_STREAM) < stream && STREAM_FILE.test(name))
    .map((name) => join(directory, name))
}

export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

export function toProcessName(number: number, launch: number): string {
  return launch === 1 ? `process-${number}` : `process-${number}-launch-${launch}`
}
