import { describe, expect, test } from "vitest"
import { RUN_STATUSES, type RunStatus } from "./lifecycle.ts"
import { fromStatusName, STATUS_NAMES, type StatusProtocol, toStatusName } from "./status-names.ts"

/** The expected names, row by row, written out a second time. */
const TABLE: Record<RunStatus, Record<StatusProtocol, string>> = {
  queued: { jaato: "pending", opencode: "running", job: "streaming", workflow: "running", mcp: "working" },
  running: { jaato: "running", opencode: "running", job: "streaming", workflow: "running", mcp: "working" },
  waiting: { jaato: "running", opencode: "running", job: "streaming", workflow: "pending", mcp: "input_required" },
  stopping: { jaato: "running", opencode: "running", job: "streaming", workflow: "running", mcp: "working" },
  completed: { jaato: "completed", opencode: "completed", job: "complete", workflow: "completed", mcp: "completed" },
  failed: { jaato: "failed", opencode: "error", job: "error", workflow: "error", mcp: "failed" },
  timed_out: { jaato: "timeout", opencode: "error", job: "error", workflow: "error", mcp: "failed" },
  cancelled: { jaato: "cancelled", opencode: "cancelled", job: "aborted", workflow: "stopped", mcp: "cancelled" },
  interrupted: { jaato: "failed", opencode: "error", job: "error", workflow: "interrupted", mcp: "failed" },
}

const PROTOCOLS = Object.keys(STATUS_NAMES.queued) as StatusProtocol[]

describe("status names of other protocols", () => {
  for (const protocol of PROTOCOLS)
    test(`${protocol} has the names of the expected table`, () => {
      for (const status of RUN_STATUSES) expect(toStatusName(protocol, status, 1)).toBe(TABLE[status][protocol])
    })

  test("opencode calls a later run resumed while it runs, and only then", () => {
    expect(toStatusName("opencode", "running", 2)).toBe("resumed")
    expect(toStatusName("opencode", "queued", 2)).toBe("running")
    expect(toStatusName("opencode", "completed", 2)).toBe("completed")
    expect(toStatusName("jaato", "running", 2)).toBe("running")
  })

  test("a foreign name leads back to every status that has it", () => {
    for (const protocol of PROTOCOLS)
      for (const status of RUN_STATUSES)
        expect(fromStatusName(protocol, toStatusName(protocol, status, 1))).toContain(status)
    expect(fromStatusName("mcp", "failed")).toEqual(["failed", "timed_out", "interrupted"])
    expect(fromStatusName("opencode", "resumed")).toEqual(["running"])
    expect(fromStatusName("jaato", "no such name")).toEqual([])
  })
})
