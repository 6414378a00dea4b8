import type { AgentEvent, EventOf } from "../view/agent-event.ts"

type Report = EventOf<"report.published">["report"]

/** What an agent said by itself. */
export interface ReportRecord {
  follow(event: AgentEvent): void
  /** Whether one has begun and not ended. */
  isMaking(): boolean
  all(): readonly Report[]
  /** How many began and came to nothing. */
  failed(): number
}

export function createReportRecord(isOwn: (agent: AgentEvent["agent"]) => boolean): ReportRecord {
  const reports: Report[] = []
  let begun = 0
  return {
    follow(event) {
      if (!isOwn(event.agent)) return
      if (event.type === "report.started") begun += 1
      if (event.type === "report.published") reports.push(event.report)
    },
    isMaking: () => begun > reports.length,
    all: () => reports,
    failed: () => Math.max(0, begun - reports.length),
  }
}
