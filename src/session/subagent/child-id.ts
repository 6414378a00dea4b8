import { createHash } from "node:crypto"
import type { AskingRun } from "../../plugin/context.ts"
import type { SessionId } from "../../task/id.ts"

/** The same for the same call of a turn, also when it is made again after a crash; another for every run of its task. */
export function toChildId({ taskId, run, askedBy }: AskingRun, key: string): SessionId {
  const asked = askedBy ? [askedBy.taskId, askedBy.run, askedBy.key] : [taskId]
  const hash = createHash("sha256")
    .update(JSON.stringify([...asked, run, key]))
    .digest("hex")
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") as SessionId
}
