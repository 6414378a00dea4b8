import { describe, expect, it } from "vitest"
import { DEFAULT_WORKSPACE } from "../task/id.ts"
import { decideCall, type PendingCall } from "./tool-hooks.ts"

const call: PendingCall = {
  plugin: "shell",
  tool: "run_command",
  input: { command: "ls" },
  workspace: DEFAULT_WORKSPACE,
  session: null,
  parentTask: null,
}

describe("decideCall", () => {
  it("allows a call that no hook minds", async () => {
    expect(await decideCall([], call)).toEqual({ decision: "allow" })
    expect(await decideCall([{ beforeToolCall: () => ({ decision: "allow" }) }], call)).toEqual({ decision: "allow" })
  })

  it("shows each hook what those before it changed", async () => {
    const seen: unknown[] = []
    const decision = await decideCall(
      [
        { beforeToolCall: () => ({ decision: "change", input: { command: "ls -l" } }) },
        {
          beforeToolCall: ({ input }) => {
            seen.push(input)
            return { decision: "allow" }
          },
        },
      ],
      call,
    )
    expect(seen).toEqual([{ command: "ls -l" }])
    expect(decision).toEqual({ decision: "change", input: { command: "ls -l" } })
  })

  it("stops at the first refusal", async () => {
    let asked = 0
    const decision = await decideCall(
      [
        { beforeToolCall: () => ({ decision: "refuse", reason: "not on Fridays" }) },
        {
          beforeToolCall: () => {
            asked++
            return { decision: "allow" }
          },
        },
      ],
      call,
    )
    expect(decision).toEqual({ decision: "refuse", reason: "not on Fridays" })
    expect(asked).toBe(0)
  })

  it("refuses a call when a hook throws", async () => {
    const broken = { beforeToolCall: () => Promise.reject(new Error("policy file unreadable")) }
    expect(await decideCall([broken], call)).toEqual({
      decision: "refuse",
      reason: "a hook failed: policy file unreadable",
    })
  })
})
