import type { AgentId } from "../format/agent-event.ts"
import type { AgentLines } from "./agent-lines.ts"

interface Reporting {
  readonly known: { readonly id: AgentId }
  readonly lines: Pick<AgentLines, "hold" | "release">
}

/**
 * Puts reports on the screen one after the other, each whole. Those of the agent a person talks with are written as they
 * come. One of another agent is kept back until it is complete, and until no report of that agent is being written.
 */
export function createReportOrder() {
  let writing: AgentId | undefined
  const coming = new Set<Reporting>()
  const complete = new Set<Reporting>()

  function showComplete(): void {
    for (const { lines } of complete) lines.release()
    complete.clear()
  }

  return {
    /** Called before the first line of a report. */
    begin(agent: Reporting, isMain: boolean): void {
      if (isMain) {
        writing = agent.known.id
        return
      }
      complete.delete(agent)
      coming.add(agent)
      agent.lines.hold()
    },
    /** Called when an agent's report has ended, or takes longer than it takes to write it. Any agent may be named. */
    end(agent: Reporting): void {
      if (writing === agent.known.id) writing = undefined
      if (coming.delete(agent)) complete.add(agent)
      if (writing === undefined) showComplete()
    },
    /** Shows what was kept back. */
    close(): void {
      for (const agent of coming) complete.add(agent)
      showComplete()
    },
  }
}
