import type { WorkerId } from "../task/id.ts"
import type { TaskKind } from "../task/record.ts"

/** Which process a worker is. */
export interface WorkerPlace {
  readonly id: WorkerId
  /** Null: it has not said. */
  readonly host: string | null
  readonly pid: number | null
  /** Relative to the reader: this process, another process of this machine, or another machine. */
  readonly where: "process" | "machine" | "elsewhere"
  /**
   * It has not been heard of for as long as its lease: its process is gone, or stands still, and what it ran is taken
   * over by the next worker that looks once the lease is over.
   */
  readonly isSilent: boolean
}

/** The abilities a worker announces. */
export interface Announcement {
  readonly version: string
  /** By wall time, when it began. */
  readonly since: number
  /**
   * Own: only what was asked for there, and what the sessions have that are open there; of one that runs no tasks, the
   * turns of these sessions.
   */
  readonly takes: "all" | "own"
  readonly kinds: readonly TaskKind[]
  /** By plugin, the names of its tools. */
  readonly plugins: Readonly<Record<string, readonly string[]>>
  /** Tasks that it runs at once. */
  readonly concurrency: number
  /** The runs, as `task/run`, that it leaves to others because it does not have the folder that they name. */
  readonly leaves: readonly string[]
  /** It was stopped: it takes nothing new, and lets what it runs come to its end. */
  readonly isLeaving: boolean
}

/** A worker that lives. */
export interface WorkerView extends WorkerPlace {
  /** Tasks that it runs now, without turns, which take no slot. */
  readonly running: number
  /** It takes work, and has not yet said which. */
  readonly isStarting: boolean
  /** Null: it takes no work, is starting, or is of a version that says nothing. */
  readonly announcement: Announcement | null
}

/** An ability that a queued task needs and no live worker has. */
export interface MissingAbility {
  readonly needs: "worker" | "kind" | "plugin" | "tool" | "folder"
  readonly name: string
  /** For people and models: `no worker has the plugin mcp`. */
  readonly text: string
}
