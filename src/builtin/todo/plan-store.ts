import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { type JsonValue, toJson } from "../../base/json.ts"
import { unlessMissing } from "../../base/system-error.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { type Plan, planSchema } from "./plan.ts"

/** The owner of a plan. Calls outside of any conversation share one plan. */
export type PlanOwner = Pick<ToolContext, "workspace" | "session" | "documents">

export type PlanStore = ReturnType<typeof createPlanStore>

const PLAN = "plan"

/**
 * One plan for each conversation, kept where the conversation is. A plan in a file of an earlier version is migrated
 * when its conversation first asks for it.
 */
export function createPlanStore(directory: string | undefined) {
  /** Earlier versions kept a file for each plan, on the machine where it was made. No file is written any more. */
  function fileOf({ workspace, session }: PlanOwner): string | undefined {
    if (directory === undefined) return undefined
    // Safe as a file name: a separator in an id is encoded.
    return join(directory, `${encodeURIComponent(workspace)}.${encodeURIComponent(session ?? "none")}.json`)
  }

  async function takeOver(owner: PlanOwner): Promise<void> {
    const file = fileOf(owner)
    if (file === undefined || (await owner.documents.read(PLAN)) !== undefined) return
    const text = await unlessMissing(readFile(file, "utf8"))
    if (text === undefined) return
    const plan = parse(() => JSON.parse(text), file)
    // Another process may have migrated the plan meanwhile, and gone on with it.
    await owner.documents.change(PLAN, (now) => now ?? toJson(plan))
    await rm(file, { force: true })
  }

  return {
    /** Refused as `store_damaged` if the plan cannot be read. */
    async get(owner: PlanOwner): Promise<Plan | undefined> {
      await takeOver(owner)
      return toPlan(await owner.documents.read(PLAN))
    },
    /** Replaces the plan, if there is one. */
    async put(owner: PlanOwner, plan: Plan): Promise<Plan> {
      const kept = await owner.documents.change(PLAN, () => toJson(plan))
      const file = fileOf(owner)
      if (file !== undefined) await rm(file, { force: true })
      return requirePlan(kept)
    },
    /** `change` may be called again: see `DocumentsPort`. */
    async change(owner: PlanOwner, change: (plan: Plan | undefined) => Plan): Promise<Plan> {
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
