import type { WorkerId } from "../task/id.ts"
import type { TaskKind } from "../task/record.ts"

/** Which process a worker is. */
export interface WorkerPlace {
  readonly id: WorkerId
  /** Null: the worker has not announced it. */
  readonly host: string | null
  readonly pid: number | null
  /** Relative to the reader: this process, another process of this machine, or another machine. */
  readonly where: "process" | "machine" | "elsewhere"
  /**
   * True if the worker was not heard of for the time of its lease: its process is gone or stands still. Once the lease
   * is over, the next worker that looks takes over its runs.
   */
  readonly isSilent: boolean
}

/** The abilities a worker announces. */
export interface Announcement {
  readonly version: string
  /** When the worker began, in wall time. */
  readonly since: number
  /**
   * `own`: only tasks asked for in this worker, and tasks of the sessions open in it. A worker that runs no tasks takes
   * only the turns of these sessions.
   */
  readonly takes: "all" | "own"
  readonly kinds: readonly TaskKind[]
  /** By plugin, the names of its tools. */
  readonly plugins: Readonly<Record<string, readonly string[]>>
  /** How many tasks the worker runs at once. */
  readonly concurrency: number
  /** The runs, as `task/run`, that the worker leaves to others because it does not have the folder that they name. */
  readonly leaves: readonly string[]
  /** True if the worker was asked to stop: it takes nothing new, and lets its runs end. */
  readonly isLeaving: boolean
}

/** A worker that lives. */
export interface WorkerView extends WorkerPlace {
  /** How many tasks the worker runs now. Turns do not count, since they take no slot. */
  readonly running: number
  /** True if the worker takes work but has not announced yet which. */
  readonly isStarting: boolean
  /** True if the worker ends by itself once it has nothing left to do: programs that leave do not count on it. */
  readonly endsWhenIdle: boolean
  /** Null: the worker takes no work, is starting, or is of a version that announces nothing. */
  readonly announcement: Announcement | null
}

/** An ability that a queued task needs and no live worker has. */
export interface MissingAbility {
  readonly needs: "worker" | "kind" | "plugin" | "tool" | "folder"
  readonly name: string
  /** For people and models: `no worker has the plugin mcp`. */
  readonly text: string
}
