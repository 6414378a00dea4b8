import { expect, test } from "vitest"
import { estimateInput } from "./offline-provider.ts"

test("a tool counts by the fields that a model is told, whatever other fields it has", () => {
  const tool = { name: "look", description: "Looks.", inputSchema: { type: "object" } }
  const request = { system: "", messages: [], signal: new AbortController().signal }
  const kept = { ...tool, found: { text: "x".repeat(10_000) } }
  expect(estimateInput({ ...request, tools: [kept] })).toBe(estimateInput({ ...request, tools: [tool] }))
})
