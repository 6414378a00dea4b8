import { MeanwhileError } from "../base/error.ts"
import type { TaskService } from "../plugin/task-service.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import type { Runner } from "../runner/runner.ts"
import type { WorkspaceId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"
import { createDeskGroups, type DeskGroups } from "./groups.ts"
import { createInbox, type Inbox } from "./inbox.ts"
import { createDeskTasks, type DeskTasks } from "./tasks.ts"

/** Whose desk it is. */
export interface DeskOptions {
  readonly workspace: WorkspaceId
  /** A label for whoever acts: it is written down with an answer. It grants nothing. */
  readonly actor: string
}

/**
 * What one actor sees of one workspace, and can do there. Every front end is drawn over it: it answers with data and
 * events, and renders nothing. Ids of another workspace are refused as `not_found`, as if there were none.
 */
export interface Desk extends DeskOptions {
  readonly tasks: DeskTasks
  readonly inbox: Inbox
  readonly groups: DeskGroups
  /** The processes that take work from the store, and those that run some of it. */
  workers(): Promise<readonly WorkerView[]>
  /** The store's time, in milliseconds: every time that a record carries goes by it. */
  now(): number
}

/** What a desk is made of. Each part of the desk is given only what it uses. */
export interface DeskParts {
  readonly store: TaskStore
  readonly tasks: TaskService & Pick<Runner, "answer" | "counts" | "workers">
  readonly now: () => number
}

export function createDesk({ workspace, actor }: DeskOptions, { store, tasks, now }: DeskParts): Desk {
  requireLabel("workspace", workspace)
  requireLabel("actor", actor)
  return {
    workspace,
    actor,
    tasks: createDeskTasks(workspace, tasks),
    inbox: createInbox({ workspace, actor }, store, tasks),
    groups: createDeskGroups(workspace, tasks.groups),
    workers: () => tasks.workers(),
    now,
  }
}

function requireLabel(field: "workspace" | "actor", label: unknown): void {
  if (typeof label === "string" && label.trim() !== "") return
  throw new MeanwhileError("invalid_input", `A desk needs \`${field}\`: a text that is not empty.`, { field })
}
