import { describe, expect, test } from "vitest"
import { toReportsConfig } from "../../src/session/conversation/report-config.ts"

describe("the configuration of reports", () => {
  test.each([
    ["001-34: is off unless somebody enables it", "enabled", false],
    ["001-35: reports append and replace", "strategies", ["append", "replace"]],
    ["001-36: lets five wait", "maxQueued", 5],
    ["001-37: gives a report a minute", "timeoutMs", 60_000],
    ["001-38: lets two reports follow from one another", "maxHops", 2],
    ["001-39: shows a notification where no report is made", "fallbackNotification", true],
  ] as const)("%s", (_, key, value) => {
    expect(toReportsConfig()[key]).toEqual(value)
  })

  test("names the key that is wrong", () => {
    expect(() => toReportsConfig({ maxHops: -1 })).toThrow(/maxHops/)
  })
})
