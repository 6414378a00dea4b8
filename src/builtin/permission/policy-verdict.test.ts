import { describe, expect, it } from "vitest"
import { measureComputingMs } from "../../../test/support/computing-time.ts"
import { matchesGlob, type CallFacts, judgeCall } from "./policy-verdict.ts"
import { permissionsConfigSchema } from "./permission-policy.ts"

const READ: CallFacts = {
  plugin: "shell",
  tool: "run_command",
  input: { command: "ls", options: { depth: 2 } },
  parts: [{ command: "ls", options: { depth: 2 } }],
  form: "call",
  effects: [],
  isGranted: false,
  isAutoApproved: false,
}
const DELETE: CallFacts = {
  ...READ,
  input: { command: "rm -rf build" },
  parts: [{ command: "rm -rf build" }],
  effects: ["delete"],
}

const judge = (policy: unknown, facts: CallFacts) => judgeCall(permissionsConfigSchema.parse(policy), facts).decision
const rule = (decision: string, more: object = {}) => ({ tool: "*", decision, ...more })

describe("what a policy says about a call", () => {
  it("asks for anything with an effect and allows the rest, unless told otherwise", () => {
    expect(judge({}, READ)).toBe("allow")
    for (const effect of ["write", "delete", "install", "send", "run_as", "unknown"] as const) {
      expect(judge({}, { ...READ, effects: [effect] })).toBe("ask")
    }
    expect(judge({ mode: "allow_all" }, DELETE)).toBe("allow")
    expect(judge({ mode: "deny_effects" }, DELETE)).toBe("deny")
    expect(judge({ mode: "deny_effects" }, READ)).toBe("allow")
  })

  it("lets deny win, then a grant, then ask, then allow, then the plugin's own list", () => {
    const all = { mode: "allow_all", rules: [rule("allow"), rule("ask"), rule("deny")] }
    const approved = { ...DELETE, isGranted: true, isAutoApproved: true }
    expect(judge(all, approved)).toBe("deny")
    expect(judge({ rules: [rule("allow"), rule("ask")] }, approved)).toBe("allow")
    expect(judge({ rules: [rule("allow"), rule("ask")] }, { ...approved, isGranted: false })).toBe("ask")
    expect(judge({ mode: "deny_effects", rules: [rule("allow")] }, DELETE)).toBe("allow")
    expect(judge({}, { ...DELETE, isAutoApproved: true })).toBe("allow")
  })

  it.each([
    [{ tool: "run_*" }, true],
    [{ tool: "run" }, false],
    [{ plugin: "sh?ll" }, true],
    [{ plugin: "mcp" }, false],
    [{ arguments: { command: "rm *" } }, true],
    [{ arguments: { command: "rm" } }, false],
    [{ arguments: { command: "rm *", cwd: "*" } }, false],
    [{ arguments: { "command.length": "*" } }, false],
    [{ arguments: { constructor: "*" } }, false],
    [{ match: '*"rm *' }, true],
    [{ match: "rm*" }, false],
    [{ effects: ["delete", "send"] }, true],
    [{ effects: ["send"] }, false],
  ])("a rule for %j applies to rm -rf build: %s", (more, applies) => {
    expect(judge({ rules: [rule("deny", more)] }, DELETE)).toBe(applies ? "deny" : "ask")
  })

  it("matches values inside objects, and those that are no text by their JSON", () => {
    expect(judge({ rules: [rule("ask", { arguments: { "options.depth": "2" } })] }, READ)).toBe("ask")
    expect(judge({ rules: [rule("ask", { arguments: { options: '{"depth":*}' } })] }, READ)).toBe("ask")
  })

  it("allows by a rule with effects only calls that have no other effects", () => {
    const policy = { rules: [rule("allow", { effects: ["delete"] })] }
    expect(judge(policy, DELETE)).toBe("allow")
    expect(judge(policy, { ...DELETE, effects: ["delete", "send"] })).toBe("ask")
  })

  it("tells the model the reason of a rule", () => {
    const policy = permissionsConfigSchema.parse({ rules: [rule("deny", { reason: "never on Fridays" })] })
    expect(judgeCall(policy, DELETE)).toEqual({ decision: "deny", reason: "never on Fridays" })
  })

  it("refuses a policy with a key or a decision it does not know", () => {
    expect(() => permissionsConfigSchema.parse({ rule: [] })).toThrow(/rule/)
    expect(() => permissionsConfigSchema.parse({ rules: [rule("maybe")] })).toThrow(/decision/)
  })

  it("matches patterns with * and ? alone, and takes no longer for text made to be slow", () => {
    expect(matchesGlob("a*b?c", "a\n/xxbzc")).toBe(true)
    expect(matchesGlob("a.c", "abc")).toBe(false)
    expect(matchesGlob("[ab]", "a")).toBe(false)
    expect(matchesGlob("**", "")).toBe(true)
    const tookMs = measureComputingMs(() => {
      expect(matchesGlob(`${"*a".repeat(30)}b`, "a".repeat(50_000))).toBe(false)
    })
    expect(tookMs).toBeLessThan(1_000)
  })
})
