import { describe, expect, test } from "vitest"
import { toMetric } from "../bench/benchmark.ts"
import { compare, percentile } from "../bench/statistics.ts"
import { toTable } from "../bench/table.ts"

describe("a metric", () => {
  test("has the keys every benchmark shares, in their order", () => {
    const metric = toMetric("tasks", {
      metric: "tasks_per_second",
      unit: "tasks/s",
      ours: 20_000.4,
      reference: { name: "bare writes", value: 40_000, ratio: 0.512345 },
      bar: { of: "ratio", atLeast: 0.4, wanted: 0.7 },
    })
    expect(JSON.stringify(metric)).toBe(
      '{"bench":"tasks","metric":"tasks_per_second","unit":"tasks/s","ours":20000,"reference":40000,' +
        '"referenceName":"bare writes","ratio":0.5123,"bar":"ratio >= 0.4 (wanted 0.7)","holds":true}',
    )
  })

  test("without a reference has null in its place", () => {
    const metric = toMetric("history", { metric: "open_ms", unit: "ms", ours: 301, bar: { of: "ours", atMost: 300 } })
    expect(metric).toMatchObject({
      reference: null,
      referenceName: null,
      ratio: null,
      bar: "ours <= 300",
      holds: false,
    })
  })

  test.each([
    [{ of: "ratio", atMost: 3 }, 3, 1, true],
    [{ of: "ratio", atMost: 3 }, 3.1, 1, false],
    [{ of: "difference", atMost: 2 }, 4, 2, true],
    [{ of: "difference", atMost: 2 }, 4.1, 2, false],
    [{ of: "ours", atMost: 5 }, 5, 1, true],
    [{ of: "ratio", atLeast: 0.4 }, 0.39, 1, false],
    [{ of: "ratio", atLeast: 0.4 }, Number.NaN, 1, false],
  ] as const)("holds %o for %d against %d: %s", (bar, ours, value, expected) => {
    expect(toMetric("b", { metric: "m", unit: "u", ours, reference: { name: "r", value }, bar }).holds).toBe(expected)
  })

  test("shows in a table with aligned columns", () => {
    const metric = toMetric("history", { metric: "open_ms", unit: "ms", ours: 12, bar: { of: "ours", atMost: 300 } })
    expect(toTable([metric])).toBe(
      "bench    metric   ours   reference  ratio  bar          holds  reference is\n" +
        "history  open_ms  12 ms  –          –      ours <= 300  yes    –\n",
    )
  })
})

test("a percentile is a value that was measured", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)]).toEqual([50, 99, 7])
})

test("a comparison measures in turns and takes the median of the ratios of single rounds", async () => {
  const order: string[] = []
  // The machine gets slower from round to round; the ratio does not.
  const comparison = await compare(
    3,
    async () => 2 * (1 + order.push("ours")),
    async () => 1 + order.push("reference"),
  )
  expect(order.join(" ")).toBe("ours reference reference ours ours reference reference ours")
  expect(comparison.ratio).toBeGreaterThan(1.5)
  expect(comparison.ratio).toBeLessThan(2.5)
})
