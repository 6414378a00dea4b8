import type { Metric } from "./benchmark.ts"

const HEADINGS = ["bench", "metric", "ours", "reference", "ratio", "bar", "holds", "reference is"] as const

export function toTable(metrics: readonly Metric[]): string {
  const rows = [
    [...HEADINGS],
    ...metrics.map((metric) => [
      metric.bench,
      metric.metric,
      `${metric.ours} ${metric.unit}`,
      metric.reference === null ? "–" : `${metric.reference} ${metric.unit}`,
      metric.ratio === null ? "–" : String(metric.ratio),
      metric.bar ?? "–",
      metric.holds === null ? "–" : metric.holds ? "yes" : "NO",
      metric.referenceName ?? "–",
    ]),
  ]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("")
}
