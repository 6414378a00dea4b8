import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { unlessMissing } from "../../base/system-error.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"

interface FileOwner {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
}

/** Plans as earlier versions kept them: a file for each, on the machine where it was made. None is written any more. */
export interface PlanFiles {
  pathOf(owner: FileOwner): string
  /** Undefined when there is none. */
  read(owner: FileOwner): Promise<string | undefined>
  remove(owner: FileOwner): Promise<void>
}

/** Without a directory there are none. */
export function createPlanFiles(directory: string | undefined): PlanFiles {
  const pathOf = (owner: FileOwner): string => join(directory ?? "", `${toKey(owner)}.json`)
  return {
    pathOf,
    read: async (owner) => (directory === undefined ? undefined : unlessMissing(readFile(pathOf(owner), "utf8"))),
    async remove(owner) {
      if (directory !== undefined) await rm(pathOf(owner), { force: true })
    },
  }
}

/** Safe as a file name: a separator in an id is encoded. */
function toKey({ workspace, session }: FileOwner): string {
  return `${encodeURIComponent(workspace)}.${encodeURIComponent(session ?? "none")}`
}
