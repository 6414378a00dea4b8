import type { Runtime } from "../../../src/app.ts"
import type { Desk } from "../../../src/desk/desk.ts"
import type { WorkspaceId } from "../../../src/task/id.ts"
import { asker } from "../asking.ts"
import { createGatedTool, echo, type GatedTool } from "../tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../workplace.ts"

export const TEAM = "team" as WorkspaceId
export const OTHERS = "others" as WorkspaceId

export interface Desks {
  readonly meanwhile: Runtime
  /** The desk of Ada, in the workspace `team`. */
  readonly desk: Desk
  /** The desk of Mallory, in another workspace of the same store. */
  readonly foreign: Desk
  readonly gated: GatedTool
  /** The desk of Grace, in the workspace `team`, in a second runtime that runs no tasks. */
  elsewhere(): Promise<Desk>
}

/** Two workspaces on one store. The tools are `echo`, `asker` and `gated`, whose calls end when the test says so. */
export async function openDesks(options: WorkplaceOptions = {}): Promise<Desks> {
  const gated = createGatedTool({ obeys: true })
  const tools = [echo, asker, gated.tool, ...(options.tools ?? [])]
  const { meanwhile, another } = await createWorkplace({ ...options, tools })
  return {
    meanwhile,
    desk: meanwhile.desk({ workspace: TEAM, actor: "ada" }),
    foreign: meanwhile.desk({ workspace: OTHERS, actor: "mallory" }),
    gated,
    async elsewhere() {
      const other = await another({ takesWork: false })
      return other.desk({ workspace: TEAM, actor: "grace" })
    },
  }
}
