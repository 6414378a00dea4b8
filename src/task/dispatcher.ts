import type { SessionId, TaskId, WorkerId } from "./id.ts"
import type { TaskKind } from "./record.ts"

/** Where a task belongs: not every process that has its tool has the folder that it names. */
export interface Place {
  readonly plugin: string
  readonly tool: string
  readonly folder: string
}

/** Between the parts of a key, where no name has it. */
const SEPARATOR = "\u0001"

/** One word for a place, which engines make of their rows too. */
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
  /** By plugin, the tools this worker has. Without it: any. */
  readonly tools?: ReadonlyMap<string, ReadonlySet<string>>
  /** By plugin, how many of it at most. Of one that is not in it: up to the limit. */
  readonly room?: ReadonlyMap<string, number>
  readonly fullSessions: readonly SessionId[]
  readonly fullModels: readonly string[]
  readonly fullWorkspaces: readonly string[]
  /** Tasks bound to one of these folders are skipped. */
  readonly missing?: readonly Place[]
  /** Nothing but these tasks and what these sessions have. Without it: everything. */
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
 * A hint where work waits: at-least-once delivery of task ids, highest priority first, then oldest, but for workspaces
 * that had their share of what is claimed here, which stand back while others wait. The truth is the claim
 * (`task.started`) in the store. Offers are made by the store's own transaction when a run becomes queued.
 */
export interface Dispatcher {
  take(request: TakeRequest): Promise<readonly Offer[]>
  /** There is no room for these after all: others may have them at once. */
  decline(offers: readonly Offer[]): void
  /** Work may have become available, here or in another process. */
  onOffer(listener: () => void): () => void
  /**
   * How long until the earliest delayed offer falls due, by the clock that it was put off by. Undefined: there is none.
   */
  nextDueInMs(): Promise<number | undefined>
}
