import type { SessionId, TaskId, WorkerId } from "./id.ts"
import type { TaskKind } from "./record.ts"

/** A tool and the folder that a task needs. A process may have the tool without having the folder. */
export interface Place {
  readonly plugin: string
  readonly tool: string
  readonly folder: string
}

/** Separates the parts of a key. No name contains it. */
const SEPARATOR = "\u0001"

/** A place as one string. Engines build the same string from their rows. */
export function toPlaceKey({ plugin, tool, folder }: Place): string {
  return [plugin, tool, folder].join(SEPARATOR)
}

/** The work a worker can take now. */
export interface TakeRequest {
  readonly worker: WorkerId
  readonly limit: number
  readonly kinds: readonly TaskKind[]
  /** Plugins this worker has and has room for. */
  readonly plugins: readonly string[]
  /** By plugin, the tools this worker has. Absent: any tool. */
  readonly tools?: ReadonlyMap<string, ReadonlySet<string>>
  /** By plugin, the most tasks to take. A plugin that is not in the map is bounded by `limit` alone. */
  readonly room?: ReadonlyMap<string, number>
  readonly fullSessions: readonly SessionId[]
  readonly fullModels: readonly string[]
  readonly fullWorkspaces: readonly string[]
  /** Tasks bound to one of these folders are skipped. */
  readonly missing?: readonly Place[]
  /** Only these tasks and the tasks of these sessions. Absent: all tasks. */
  readonly only?: { readonly sessions: readonly SessionId[]; readonly tasks: readonly TaskId[] }
}

export interface Offer {
  readonly taskId: TaskId
  readonly run: number
  /** The session, plugin and model whose room the task will take. */
  readonly session: SessionId | null
  readonly workspace: string
  readonly plugin: string
  readonly model: string | null
  readonly tool: string
  readonly folder: string | null
}

/**
 * Hints where work waits. Task ids are delivered at least once, by priority and then by age, except that a workspace
 * that has had its share of the claims made here stands back while others wait. The truth is the claim (`task.started`)
 * in the store. The store's own transaction makes an offer when a run becomes queued.
 */
export interface Dispatcher {
  take(request: TakeRequest): Promise<readonly Offer[]>
  /** Gives back offers that the worker has no room for after all. Other workers may take them at once. */
  decline(offers: readonly Offer[]): void
  /** The listener is called when work may have become available, here or in another process. */
  onOffer(listener: () => void): () => void
  /**
   * The time until the earliest delayed offer falls due, by the clock that its delay was set by. Undefined: no offer is
   * delayed.
   */
  nextDueInMs(): Promise<number | undefined>
}
