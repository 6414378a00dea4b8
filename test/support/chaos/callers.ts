import type { Child } from "./child.ts"
import type { Report } from "./crash-protocol.ts"

/** What callers know, over all lives of the programs they talked to. */
export interface Callers {
  readonly answered: Set<string>
  readonly mayBeCancelled: Set<string>
  readonly mustBeStopped: Set<string>
}

export function createCallers(): Callers {
  return { answered: new Set(), mayBeCancelled: new Set(), mustBeStopped: new Set() }
}

export function listen(child: Child, callers: Callers): void {
  for (const report of child.lines.map(parseReport)) {
    if (!report) continue
    if ("answered" in report) callers.answered.add(report.answered)
    if ("stopping" in report) callers.mayBeCancelled.add(report.stopping)
    if ("stopped" in report) callers.mustBeStopped.add(report.stopped)
  }
}

/** Undefined for a line that is no report: what the program printed when it could not start. */
export function parseReport(line: string): Report | undefined {
  return line.startsWith("{") ? (JSON.parse(line) as Report) : undefined
}
