import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { EndSignal } from "../postgres/cluster.ts"
import type { StepsInput } from "./chaos-tools.ts"
import type { Random } from "./seed.ts"

/** What happens to a fleet of workers, and to its server, while it works. */
export type Accident =
  /** SIGKILL, and after a while another one in its place. */
  | { readonly what: "kill"; readonly worker: number; readonly restMs: number }
  /** SIGSTOP, and after a while SIGCONT, or SIGKILL if it `isKilled`. */
  | { readonly what: "freeze"; readonly worker: number; readonly restMs: number; readonly isKilled: boolean }
  /** SIGTERM, as an update would, and another one in its place. */
  | { readonly what: "replace"; readonly worker: number }
  /** The server ends this way and is back after a while. */
  | { readonly what: "restart"; readonly signal: EndSignal; readonly restMs: number }
  /** A share of all connections is lost, and the server stays. */
  | { readonly what: "cut"; readonly share: number }

export interface FleetPlan {
  readonly calls: readonly ToolCall[]
  readonly accidents: readonly Accident[]
  /** The least number of effects, however much is interrupted. */
  readonly effects: number
}

export interface FleetSize {
  readonly tasks: number
  readonly workers: number
  readonly accidents: number
  readonly leaseMs: number
}

const CHILD_STEPS = ["x-retry", "y-once"]
/** The share of all steps that surely happens. */
const UNINTERRUPTED_SHARE = 0.8

/** Every kind of accident is among the first ones, in whatever order. */
const KINDS = ["kill", "freeze", "restart", "kill", "cut", "replace", "freeze"] as const

/** The same random numbers make the same plan. What a worker is doing when an accident happens is up to the machine. */
export function planFleet(random: Random, size: FleetSize): FleetPlan {
  const calls = Array.from({ length: size.tasks }, () => planCall(random))
  const accidents: Accident[] = []
  while (accidents.length < size.accidents)
    for (const what of shuffle(random, KINDS)) accidents.push(planAccident(random, what, size))
  const steps = calls.flatMap(({ input }) => (input as Partial<StepsInput>).steps ?? CHILD_STEPS)
  return { calls, accidents: accidents.slice(0, size.accidents), effects: 2 * steps.length * UNINTERRUPTED_SHARE }
}

function planCall(random: Random): ToolCall {
  const tool = random.pick(["retrying", "retrying", "retrying", "careful", "asking", "parent"])
  if (tool === "parent") return { tool, input: { childSteps: [...CHILD_STEPS] } }
  const steps = Array.from(
    { length: random.integer(1, 4) },
    (_, index) => `${index}-${random.pick(["retry", "retry", "retry", "once", "ask"])}`,
  )
  const ending = random.chance(0.1) ? "fail" : "complete"
  return { tool, input: { steps, pauseMs: random.integer(5, 200), ending }, priority: random.integer(0, 2) }
}

function planAccident(random: Random, what: Accident["what"], { workers, leaseMs }: FleetSize): Accident {
  const worker = random.integer(0, workers - 1)
  switch (what) {
    case "kill":
      return { what, worker, restMs: random.integer(0, leaseMs) }
    case "freeze":
      return { what, worker, restMs: leaseMs * random.pick([0.3, 1.3, 1.8, 2.5]), isKilled: random.chance(0.25) }
    case "replace":
      return { what, worker }
    case "restart":
      return { what, signal: random.pick(["SIGINT", "SIGQUIT", "SIGKILL"]), restMs: random.pick([0, 0, 300, 1_200]) }
    case "cut":
      return { what, share: random.pick([0.3, 1]) }
  }
}

function shuffle<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(random.integer(0, left.length - 1), 1))
}
