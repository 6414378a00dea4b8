import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { Command } from "./crash-protocol.ts"
import type { Random } from "./seed.ts"
import { toCommand } from "./shell-script.ts"

const ONCE_TOOLS = ["careful", "careful", "shell", "shell", "endless"] as const
const ALL_TOOLS = [...ONCE_TOOLS, "shell", "asking", "retrying", "retrying", "retrying", "parent"] as const

export interface PlanOptions {
  /** True: only calls that a new claim does not repeat. */
  readonly isAllOnce?: boolean
}

/** Commands for one life of the program, the same for the same random numbers. */
export function planCommands(random: Random, count: number, options: PlanOptions = {}): readonly Command[] {
  return Array.from({ length: count }, () => {
    const call = planCall(random, options)
    return random.chance(0.25)
      ? ({ do: "promote", call, afterMs: random.integer(0, 40) } as const)
      : ({ do: "start", call } as const)
  })
}

function planCall(random: Random, { isAllOnce = false }: PlanOptions): ToolCall {
  const tool = random.pick(isAllOnce ? ONCE_TOOLS : ALL_TOOLS)
  if (tool === "shell") return planShell(random)
  if (tool === "parent") return { tool, input: { childSteps: ["x-retry", "y-retry"] } }
  if (tool === "endless") return { tool, input: {} }
  const names = Array.from(
    { length: random.integer(0, 4) },
    (_, index) => `${index}-${isAllOnce ? "once" : random.pick(["retry", "retry", "once"])}`,
  )
  const ending = random.chance(0.15) ? "fail" : "complete"
  return { tool, input: { steps: names, pauseMs: random.integer(0, 25), ending } }
}

function planShell(random: Random): ToolCall {
  const command = toCommand({
    lines: random.pick([0, 1, 3, 8, 15]),
    pauseSeconds: random.pick([0, 0.01, 0.03]),
    exitCode: random.pick([0, 0, 0, 1, 3, 42]),
  })
  return { tool: "run_command", input: { command }, lifetime: random.chance(0.3) ? "forever" : "runtime" }
}
