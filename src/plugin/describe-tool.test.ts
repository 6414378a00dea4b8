import { expect, it } from "vitest"
import { z } from "zod"
import { describeTool } from "./describe-tool.ts"
import type { DurationEstimate } from "./task-service.ts"
import { type BackgroundPolicy, defineTool } from "./tool.ts"

const describeWith = (background: BackgroundPolicy | undefined, estimate: DurationEstimate | null = null) => {
  const tool = defineTool({ name: "build", description: "Builds. ", input: z.object({}), run: async () => null })
  return describeTool(background ? { ...tool, background } : tool, { estimate })
}

const goesOn = "goes on in the background as a task; its result comes back by itself."

it.each<[string, BackgroundPolicy | undefined, string]>([
  ["nothing about a tool that says nothing", undefined, "Builds."],
  ["nothing about a tool that stays in the foreground", { mode: "never" }, "Builds."],
  ["nothing about the configured threshold", { mode: "after" }, "Builds."],
  ["the tool's own threshold", { mode: "after", ms: 2_500 }, `Builds. A call that takes longer than 2.5 s ${goesOn}`],
  [
    "that it can be started there",
    { mode: "on_request" },
    "Builds. Can be started in the background as a task; its result then comes back by itself.",
  ],
  ["always", { mode: "always" }, "Builds. Runs in the background as a task; its result comes back by itself."],
])("tells the model %s", (_, background, text) => {
  expect(describeWith(background)).toBe(text)
})

it("tells the model that the threshold depends on the input", () => {
  const tool = defineTool({
    name: "build",
    description: "Builds.",
    input: z.object({}),
    background: () => ({ mode: "always" }),
    run: async () => null,
  })
  expect(describeTool(tool)).toContain("how many depends on its input")
})

it("tells the expected duration, and whether it was learned", () => {
  expect(describeWith(undefined, { medianMs: 30_000, p90Ms: 30_000, source: "guess" })).toBe(
    "Builds. Expected to take about 30 s.",
  )
  expect(describeWith(undefined, { medianMs: 800, p90Ms: 240_000, source: "history" })).toBe(
    "Builds. Usually takes 800 ms; nine of ten calls take less than 4 min.",
  )
})

it("never tells the model to look again and again", () => {
  for (const mode of ["after", "on_request", "always"] as const)
    expect(describeWith({ mode })).not.toMatch(/poll|check|periodically/i)
})
