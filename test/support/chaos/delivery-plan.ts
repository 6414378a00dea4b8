import type { GroupRequest } from "../../../src/plugin/group-service.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { NotifyMode } from "../../../src/task/record.ts"
import type { CrashPoint } from "./mortal-engine.ts"
import type { Random } from "./seed.ts"
import type { ProcessCrash } from "./turn-crash.ts"

/** Conversations, what is done to them in each life of the program, and where each life but the last ends. */
export interface DeliveryPlan {
  /** Part of every id, so that no two rounds share one. */
  readonly name: string
  readonly sessions: readonly PlannedSession[]
  readonly maxConsecutiveWakes: number
  readonly tasksAtOnce: number
  readonly lives: readonly PlannedLife[]
  /** The person's answer about the results of gated groups. */
  readonly isApplied: boolean
}

export const toSessionId = ({ name }: DeliveryPlan, index: number): SessionId => `session-${name}-${index}` as SessionId

export interface PlannedSession {
  readonly reports: boolean
}

export interface PlannedLife {
  readonly moves: readonly Move[]
  readonly crash: ProcessCrash
}

/**
 * What a person, a program and the world do, one after the other. Nobody waits for a turn to end before the next move.
 * The first letter of a mark says what becomes of the work: `w` completes, `f` fails, `d` may not be repeated after a
 * crash, and the report of an `n` starts more.
 */
export type Move =
  | { readonly do: "say"; readonly session: number; readonly story: string }
  | {
      readonly do: "start"
      readonly session: number
      readonly marks: readonly string[]
      readonly group: PlannedGroup | null
      readonly notify: NotifyMode
      readonly seals: boolean
    }
  /** Ends `count` of the running tasks at once, the oldest first. */
  | { readonly do: "end"; readonly count: number }
  | { readonly do: "cancel" | "retry" | "cancel_group" }
  | { readonly do: "stop"; readonly session: number }
  | { readonly do: "pass"; readonly turns: number }

export type PlannedGroup = keyof typeof GROUPS

/** Kinds of groups. Each group is named by its kind and its move; groups that replace each other share one name. */
export const GROUPS = {
  all: {},
  any: { join: "any" },
  two: { join: 2 },
  each: { report: "each" },
  none: { report: "none" },
  fast: { failFast: true },
  gated: { merge: "human_gated" },
  again: { merge: "replace" },
} as const satisfies Record<string, Omit<GroupRequest, "name">>

const GROUP_NAMES = Object.keys(GROUPS) as [PlannedGroup, ...PlannedGroup[]]
const MOST_LIVES = 3
/** Roughly the commits of a life. A crash planned later is not reached: the life then ends when everything is told. */
const COMMITS = 60

export function planDelivery(seed: number, random: Random): DeliveryPlan {
  const sessions = Array.from({ length: random.integer(1, 3) }, () => ({ reports: random.chance(0.75) }))
  const toMark = createMarks(random)
  const lives = Array.from({ length: random.pick([1, 1, 1, 1, 1, 2, MOST_LIVES]) }, (_, index) => ({
    moves: planMoves(random, { sessions: sessions.length, count: random.integer(4, index === 0 ? 10 : 5), toMark }),
    crash: planCrash(random),
  }))
  const maxConsecutiveWakes = random.pick([1, 3, 1_000, 1_000])
  const tasksAtOnce = random.pick([2, 30, 30])
  return { name: `r${seed}`, sessions, maxConsecutiveWakes, tasksAtOnce, lives, isApplied: random.chance(0.5) }
}

function planCrash(random: Random): ProcessCrash {
  const number = random.integer(1, COMMITS)
  if (random.chance(0.15)) return { at: "unsaved", number }
  if (random.chance(0.2)) return { at: "effect", number: random.integer(1, 12), when: random.pick(["before", "after"]) }
  return { at: "commit", number, when: random.pick<CrashPoint["when"]>(["before", "after"]) }
}

interface MovesOptions {
  readonly sessions: number
  readonly count: number
  readonly toMark: () => string
}

function planMoves(random: Random, { sessions, count, toMark }: MovesOptions): readonly Move[] {
  const session = (): number => random.integer(0, sessions - 1)
  const plan: readonly [() => Move, ...(() => Move)[]] = [
    () => ({ do: "say", session: session(), story: planStory(random, toMark) }),
    () => ({ do: "say", session: session(), story: planStory(random, toMark) }),
    () => ({ do: "say", session: session(), story: "" }),
    () => planStart(random, session(), toMark),
    () => planStart(random, session(), toMark),
    () => ({ do: "end", count: random.pick([1, 2, 5, 1_000]) }),
    () => ({ do: "end", count: random.pick([1, 2, 5, 1_000]) }),
    () => ({ do: random.pick(["cancel", "cancel", "retry", "retry", "cancel_group"] as const) }),
    () => ({ do: "stop", session: session() }),
  ]
  return Array.from({ length: count }, () => [
    random.pick(plan)(),
    { do: "pass", turns: random.pick([0, 1, 3, 8, 20]) } as const,
  ]).flat()
}

function planStart(random: Random, session: number, toMark: () => string): Move {
  const group = random.chance(0.5) ? random.pick(GROUP_NAMES) : null
  const marks = Array.from({ length: random.pick([1, 2, 3, 6]) }, toMark)
  const notify = random.pick<NotifyMode>(["wake", "wake", "wake", "wake", "next_turn", "silent"])
  return { do: "start", session, marks, group, notify, seals: random.chance(0.7) }
}

/** Steps of calls, as the model reads them: see `delivery-story.ts`. */
function planStory(random: Random, toMark: () => string): string {
  const started: string[] = []
  const begin = (): string => {
    const mark = toMark()
    started.push(mark)
    if (random.chance(0.4)) return `call:${mark}`
    return random.chance(0.2)
      ? `retain:${mark}`
      : `start:${mark}${random.chance(0.5) ? `@${random.pick(GROUP_NAMES)}` : ""}`
  }
  const look = (): string => "look"
  const use = (): string => {
    const [first, ...others] = started
    if (first === undefined) return "look"
    return `${random.pick<string>(["read", "read", "acknowledge", "cancel"])}:${random.pick<string>([first, ...others])}`
  }
  const pickCall = (): string => random.pick<() => string>([begin, begin, use, look, look, () => "wait"])()
  const steps = Array.from({ length: random.integer(1, 4) }, () =>
    Array.from({ length: random.pick([1, 1, 2, 3]) }, pickCall).join(","),
  )
  return steps.join("|")
}

function createMarks(random: Random): () => string {
  let count = 0
  return () => `${random.pick(["w", "w", "w", "w", "f", "d", "n"])}${++count}`
}
