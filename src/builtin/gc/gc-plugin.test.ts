import { describe, expect, it } from "vitest"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import { gcConfigSchema } from "./gc-config.ts"
import { createGcPlugin, createTruncateGc } from "./gc-plugin.ts"
import { CONFIG, PLUGINS } from "../../../test/support/builtin/gc.ts"

describe("when collection is due", () => {
  const usage = (percentUsed: number): ContextUsage => ({
    usedTokens: 96_000,
    limitTokens: 128_000,
    percentUsed,
    turns: 9,
  })

  it.each(Object.entries(PLUGINS))(
    "%s says so from the threshold on, with the reason in a sentence",
    (_name, create) => {
      expect(create().shouldCollect(usage(74.9), CONFIG)).toEqual({ isDue: false })
      expect(create().shouldCollect(usage(75), CONFIG)).toEqual({
        isDue: true,
        reason:
          "The conversation takes 75 % of the context window (96,000 of 128,000 tokens); collection is due at 75 %.",
      })
      expect(create().shouldCollect(usage(60), { ...CONFIG, thresholdPercent: 60 })).toMatchObject({ isDue: true })
    },
  )
})

describe("the configuration", () => {
  it("has a default for every key and makes the plugin it asks for", () => {
    const section = gcConfigSchema().parse({})
    expect(section).toEqual({
      strategy: "hybrid",
      thresholdPercent: 75,
      targetPercent: 50,
      keepRecentTurns: 4,
      keepFirstTurn: false,
      summaryMaxTokens: 2_000,
      middleTurns: 20,
    })
    const nameOf = (strategy: string) => createGcPlugin(gcConfigSchema().parse({ strategy }))?.name
    expect(["truncate", "summarize", "hybrid", "none"].map(nameOf)).toEqual([
      "gc_truncate",
      "gc_summarize",
      "gc_hybrid",
      undefined,
    ])
  })

  it.each([
    [{ targetPercent: 75 }, "must be below thresholdPercent"],
    [{ keepRecentTurns: 0 }, "keepRecentTurns"],
    [{ strategy: "forget" }, "strategy"],
    [{ keepRecent: 4 }, "keepRecent"],
  ])("refuses %o", (input, message) => {
    expect(JSON.stringify(gcConfigSchema().safeParse(input).error?.issues)).toContain(message)
  })

  it("refuses options of a plugin that make no sense, and names them", () => {
    expect(() => createTruncateGc({ keepRecentTurns: 0 })).toThrow("keepRecentTurns")
  })
})
