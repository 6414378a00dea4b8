import type { GroupRecord } from "../../task/group.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import { toGateKey } from "../tool/gate-name.ts"

export async function findGate(
  store: TaskStore,
  { id, workspace }: Pick<GroupRecord, "id" | "workspace">,
): Promise<TaskRecord | undefined> {
  const { items } = await store.tasks({ workspace, idempotencyKey: toGateKey(id) }, { limit: 1 })
  return items[0] && store.task(items[0].id)
}
