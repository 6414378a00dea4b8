import type { DeliveryPlan, Move } from "./delivery-plan.ts"
import type { Random } from "./seed.ts"
import type { ProcessCrash } from "./turn-crash.ts"

/** A group and single tasks, whose ends are told by a report, at a tool boundary and with a message, and read by a call. */
const MOVES: readonly Move[] = [
  { do: "say", session: 0, story: "start:w1@all,start:f2@all,call:d3" },
  { do: "start", session: 1, marks: ["w4", "f5", "n6"], group: null, notify: "wake", seals: false },
  { do: "pass", turns: 20 },
  { do: "end", count: 1_000 },
  { do: "pass", turns: 20 },
  { do: "start", session: 0, marks: ["w7", "w8"], group: null, notify: "wake", seals: false },
  { do: "say", session: 0, story: "call:w9|look|wait" },
  { do: "pass", turns: 8 },
  { do: "end", count: 1 },
  { do: "pass", turns: 8 },
  { do: "end", count: 1_000 },
  { do: "say", session: 1, story: "" },
  { do: "pass", turns: 20 },
]

/** Every way in which an end reaches a conversation, in one life, a little sooner or later each time. */
export function planOutbox(seed: number, random: Random, crash: ProcessCrash): DeliveryPlan {
  const moves = MOVES.map((move) => (move.do === "pass" ? { ...move, turns: random.integer(0, move.turns) } : move))
  return {
    name: `outbox${seed}`,
    sessions: [{ reports: true }, { reports: false }],
    maxConsecutiveWakes: 1_000,
    tasksAtOnce: 30,
    isApplied: true,
    lives: [{ moves, crash }],
  }
}
