import { MeanwhileError } from "../../base/error.ts"
import { type JsonValue, toJson } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { type Plan, planSchema } from "./plan.ts"
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { unlessMissing } from "../../base/system-error.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"

/** Whose plan it is. Calls outside of any conversation share one. */
export type PlanOwner = Pick<ToolContext, "workspace" | "session" | "documents">

/** One plan for each conversation, kept where the conversation is. */
export interface PlanStore {
  /** Refused as `store_damaged` when it cannot be read. */
  get(owner: PlanOwner): Promise<Plan | undefined>
  /** In place of whatever there is. */
  put(owner: PlanOwner, plan: Plan): Promise<Plan>
  /** `change` may be called again: see `DocumentsPort`. */
  change(owner: PlanOwner, change: (plan: Plan | undefined) => Plan): Promise<Plan>
}

const PLAN = "plan"

/** A file of an earlier version in the directory is migrated when its conversation first asks for it. */
export function createPlanStore(directory: string | undefined): PlanStore {
  const files = createPlanFiles(directory)

  async function takeOver(owner: PlanOwner): Promise<void> {
    if ((await owner.documents.read(PLAN)) !== undefined) return
    const text = await files.read(owner)
    if (text === undefined) return
    const plan = parse(() => JSON.parse(text), files.pathOf(owner))
    // Somebody else may have taken it over meanwhile, and gone on with it.
    await owner.documents.change(PLAN, (now) => now ?? toJson(plan))
    await files.remove(owner)
  }

  return {
    async get(owner) {
      await takeOver(owner)
      return toPlan(await owner.documents.read(PLAN))
    },
    async put(owner, plan) {
      const kept = await owner.documents.change(PLAN, () => toJson(plan))
      await files.remove(owner)
      return requirePlan(kept)
    },
    async change(owner, change) {
      await takeOver(owner)
      return requirePlan(await owner.documents.change(PLAN, (now) => toJson(change(toPlan(now)))))
    },
  }
}

function toPlan(kept: JsonValue | undefined): Plan | undefined {
  return kept === undefined ? undefined : requirePlan(kept)
}

function requirePlan(kept: JsonValue): Plan {
  return parse(() => kept, "the store")
}

function parse(read: () => unknown, place: string): Plan {
  try {
    return planSchema().parse(read())
  } catch (error) {
    const message = `The plan in ${place} cannot be read. Make a new one with createPlan, which replaces it.`
    throw new MeanwhileError("store_damaged", message, { place }, { cause: error })
  }
}

interface FileOwner {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
}

/** Plans as earlier versions kept them: a file for each, on the machine where it was made. None is written any more. */
interface PlanFiles {
  pathOf(owner: FileOwner): string
  /** Undefined when there is none. */
  read(owner: FileOwner): Promise<string | undefined>
  remove(owner: FileOwner): Promise<void>
}

/** Without a directory there are none. */
function createPlanFiles(directory: string | undefined): PlanFiles {
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
