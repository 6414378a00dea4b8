import { toErrorMessage } from "../../base/error.ts"
import { PROGRESS_TOOL } from "../../plugin/agent-request.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { ReportedProgress } from "../../task/progress.ts"
import { toLine } from "./agent-patch.ts"

export const MILESTONE_INSTRUCTIONS =
  `Whoever asked wants to hear at once when a part of the work is done that they can use or decide on: call ` +
  `${PROGRESS_TOOL} with milestone then, and only then.`

const LONGEST_TITLE = 80
const LONGEST_WORDS = 300

/** Keeps the milestones of an agent's run, in their order. */
export interface Milestones {
  reach(reached: ReportedProgress, key: string): void
  /** Resolves once all that were reached so far are kept. */
  settled(): Promise<void>
}

/**
 * A milestone that is reached again after a crash is kept once. Where the one who asked is to be told, it is also a task
 * below the agent's that has ended: its end is told as any other is.
 */
export function createMilestones(
  context: ToolContext,
  name: string,
  { isTold }: { readonly isTold: boolean },
): Milestones {
  let kept: Promise<void> = Promise.resolve()

  async function keep(reached: ReportedProgress, key: string): Promise<void> {
    try {
      const isKept = await context.milestone(key, reached)
      if (isKept && isTold) await tell(context, name, reached, key)
    } catch (error) {
      if (context.signal.aborted) return
      context.log.warn("a milestone of an agent could not be kept", { error: toErrorMessage(error) })
    }
  }

  return {
    reach(reached, key) {
      kept = kept.then(() => keep(reached, key))
    },
    settled: () => kept,
  }
}

async function tell(context: ToolContext, name: string, reached: ReportedProgress, key: string): Promise<void> {
  const { taskId, run, tasks } = context
  const text = toText(reached)
  const call = {
    tool: PROGRESS_TOOL,
    input: { milestone: true },
    title: toLine(`${name}: ${text}`, LONGEST_TITLE),
    idempotencyKey: `milestone/${taskId}/${run}/${key}`,
  }
  await tasks.adopt(call, Promise.resolve(toLine(text, LONGEST_WORDS)))
}

function toText({ fraction, phase, words }: ReportedProgress): string {
  const done = fraction === null ? "" : `${Math.round(fraction * 100)} %`
  return [done, phase, words].filter(Boolean).join(" · ") || "a milestone"
}
