import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { unlessMissing } from "../../base/system-error.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { type Plan, planSchema } from "./plan.ts"

/** Whose plan it is. Calls outside of any conversation share one. */
export interface PlanOwner {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
}

/** One plan for each conversation. */
export interface PlanStore {
  get(owner: PlanOwner): Promise<Plan | undefined>
  put(owner: PlanOwner, plan: Plan): Promise<void>
}

/** Gone when the process ends. */
export function createMemoryPlanStore(): PlanStore {
  const plans = new Map<string, Plan>()
  return {
    get: async (owner) => plans.get(toKey(owner)),
    put: async (owner, plan) => {
      plans.set(toKey(owner), plan)
    },
  }
}

/** A small file for each plan, replaced as a whole: after a crash it is the old plan or the new one. */
export function createFilePlanStore(directory: string): PlanStore {
  const fileOf = (owner: PlanOwner): string => join(directory, `${toKey(owner)}.json`)
  return {
    get: async (owner) => {
      const text = await unlessMissing(readFile(fileOf(owner), "utf8"))
      return text === undefined ? undefined : parsePlan(text, fileOf(owner))
    },
    put: async (owner, plan) => {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const temporary = join(directory, `.${randomUUID()}.tmp`)
      await writeFile(temporary, JSON.stringify(plan), { mode: 0o600, flush: true })
      await rename(temporary, fileOf(owner))
    },
  }
}

/** Safe as a file name: a separator in an id is encoded. */
function toKey({ workspace, session }: PlanOwner): string {
  return `${encodeURIComponent(workspace)}.${encodeURIComponent(session ?? "none")}`
}

function parsePlan(text: string, path: string): Plan {
  try {
    return planSchema().parse(JSON.parse(text))
  } catch (error) {
    const message = `The plan in ${path} cannot be read. Make a new one with createPlan, which replaces it.`
    throw new MeanwhileError("store_damaged", message, { path }, { cause: error })
  }
}
