import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import { toOneLine } from "../../base/one-line.ts"

export const STEP_STATUSES = ["pending", "in_progress", "completed", "failed", "skipped"] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

const LONGEST_TEXT = 400

/** One line: a plan is shown as a list, on a screen that control characters would act on. */
const line = lazily(() => z.string().max(LONGEST_TEXT).overwrite(toOneLine))

export const planTitle = line
export const stepText = lazily(() => line().min(1, "must say what is to be done"))
export const stepNote = line
export const stepStatus = lazily(() => z.enum(STEP_STATUSES))

export const planSchema = lazily(() =>
  z.object({
    title: z.string(),
    steps: z.array(z.object({ text: z.string(), status: stepStatus(), note: z.string().optional() })),
  }),
)

/** The plan of one conversation, with its progress. */
export type Plan = z.infer<ReturnType<typeof planSchema>>

export interface StepUpdate {
  /** Counted from 1. */
  readonly step: number
  readonly status: StepStatus
  /** Replaces the earlier note, which stays if there is no new one. */
  readonly note?: string | undefined
}

export function createPlan(title: string, steps: readonly string[]): Plan {
  return { title, steps: steps.map((text) => ({ text, status: "pending" })) }
}

export function updateStep(plan: Plan, { step, status, note }: StepUpdate): Plan {
  if (step > plan.steps.length) {
    const message = `The plan has ${plan.steps.length} steps: there is no step ${step}. Make a new plan to add steps.`
    throw new MeanwhileError("invalid_input", message, { step, steps: plan.steps.length })
  }
  const steps = plan.steps.map((each, index) =>
    index === step - 1 ? { ...each, status, ...(note !== undefined && { note }) } : each,
  )
  return { ...plan, steps }
}

/** How many steps are neither pending nor in progress. */
export function countEnded(plan: Plan): number {
  return plan.steps.filter(({ status }) => status !== "pending" && status !== "in_progress").length
}

const MARKS: Readonly<Record<StepStatus, string>> = {
  pending: "○",
  in_progress: "▶",
  completed: "✔",
  failed: "✘",
  skipped: "–",
}

/** A heading and a line for each step, the same for people and models. */
export function renderPlan(plan: Plan): string {
  const { title, steps } = plan
  const width = String(steps.length).length
  const lines = steps.map(({ text, status, note }, index) => {
    const number = String(index + 1).padStart(width)
    const state = status === "failed" || status === "skipped" ? ` (${status})` : ""
    return `${MARKS[status]} ${number}. ${text}${state}${note ? ` — ${note}` : ""}`
  })
  return [`${title || "Plan"}: ${countEnded(plan)} of ${steps.length} steps ended`, ...lines].join("\n")
}
