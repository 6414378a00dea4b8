import type { JsonValue } from "../base/json.ts"
import type { Runner } from "../runner/runner.ts"
import type { WaitId, WorkspaceId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import type { WaitRecord } from "../task/wait.ts"

/** What waits for a person in one workspace. */
export interface Inbox {
  /** Oldest first. */
  list(): Promise<readonly WaitRecord[]>
  /** The first answer counts; a later one is refused as `wrong_state`. */
  answer(id: WaitId, answer: JsonValue): Promise<TaskRecord>
}

interface Answering {
  readonly workspace: WorkspaceId
  readonly actor: string
}

export function createInbox(
  { workspace, actor }: Answering,
  store: Pick<TaskStore, "waits">,
  tasks: Pick<Runner, "answer">,
): Inbox {
  return {
    async list() {
      const waits = await store.waits({ workspace, isOpen: true })
      return waits.filter(({ reason }) => reason === "approval" || reason === "person")
    },
    answer: (id, answer) => tasks.answer(id, answer, actor, workspace),
  }
}
