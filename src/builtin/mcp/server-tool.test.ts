import { expect, it } from "vitest"
import { toToolName } from "./server-tool.ts"

it("names a tool after its server", () => {
  expect(toToolName("github", "list-issues")).toBe("mcp__github__list-issues")
})

it("uses only letters that every model API takes, and never gives two tools one name", () => {
  const names = [
    toToolName("my server", "a.b"),
    toToolName("my.server", "a b"),
    toToolName("a__b", "c"),
    toToolName("a", "b__c"),
    toToolName("a_", "b"),
    toToolName("a", "_b"),
    toToolName("s".repeat(60), "one"),
    toToolName("s".repeat(60), "two"),
  ]
  for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  expect(new Set(names).size).toBe(names.length)
})
