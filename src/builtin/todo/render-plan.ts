import { countEnded, type Plan, type StepStatus } from "./plan.ts"

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
