import type { JsonObject } from "../../base/json.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import { createWaitId } from "../../task/id.ts"
import type { OnCrash } from "../../task/step.ts"

/** Marks the question that a crash left behind, so that its answer is understood. */
export const REPEAT_QUESTION = "repeat_after_crash"

/** Steps in flight decide, the most careful one first. Between steps the run's own `onCrash` decides. */
export function decideOnCrash(inFlight: readonly OnCrash[], betweenSteps: OnCrash): OnCrash {
  const decisions = inFlight.length > 0 ? inFlight : [betweenSteps]
  if (decisions.includes("fail")) return "fail"
  return decisions.includes("ask") ? "ask" : "retry"
}

/**
 * A turn goes on whatever was in flight. It tells the model what may not be repeated, and asks a person about steps that
 * a person must decide on.
 */
export function decideTurnOnCrash(inFlight: readonly OnCrash[]): OnCrash {
  return inFlight.includes("ask") ? "ask" : "retry"
}

export interface Crash {
  readonly by: "lost_worker" | "shutdown"
  readonly title: string
  readonly tool: string
  /** Null: nobody measured it. */
  readonly ranMs: number | null
  /** The machine it ran on, where there are several. */
  readonly host?: string | undefined
  /**
   * The run may have left processes on its machine, which cannot be seen from here. The next worker of the lost worker's
   * data folder stops them; null: that folder is not known.
   */
  readonly left?: { readonly dataFolder: string | null } | undefined
}

export function toCrashEvent(onCrash: OnCrash, { by, title, tool, ranMs, host, left }: Crash): LifecycleEvent {
  switch (onCrash) {
    case "retry":
      return { type: "task.released", reason: by, ...(ranMs !== null && { ranMs }) }
    case "fail":
      return toInterrupted(
        by,
        `it was running${where(host)} when its worker ${by === "shutdown" ? "ended" : "was lost"}, and ${tool} may not be repeated${describe(left)}`,
        left && { processesMayRun: true, host: host ?? null, dataFolder: left.dataFolder },
      )
    case "ask":
      return {
        type: "task.waited",
        ranMs: ranMs ?? 0,
        wait: {
          id: createWaitId(),
          reason: "person",
          question: { kind: REPEAT_QUESTION, text: `${title} was interrupted. Run it again?`, options: [true, false] },
          expiresAt: null,
          onExpiry: false,
        },
      }
  }
}

function describe(left: Crash["left"]): string {
  if (!left) return ""
  const folder = left.dataFolder === null ? "its data folder" : `the data folder ${left.dataFolder}`
  return `; its processes may still run there, until a worker with ${folder} stops them`
}

function where(host: string | undefined): string {
  return host === undefined ? "" : ` on ${host}`
}

export function toInterrupted(by: Crash["by"], message: string, details: JsonObject = {}): LifecycleEvent {
  return { type: "task.interrupted", by, failure: { code: "worker_lost", message, details } }
}

export function toSecretGone(by: Crash["by"]): LifecycleEvent {
  const message = "its input held a secret, which is never stored, and the process that knew it is gone; start it again"
  return { type: "task.interrupted", by, failure: { code: "secret_not_kept", message, details: {} } }
}
