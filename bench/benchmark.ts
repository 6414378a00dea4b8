/** What a measured value is held against. The unit is that of the metric, except that a ratio has none. */
export type Bar =
  | { readonly of: "ours"; readonly atMost: number; readonly wanted?: number }
  | { readonly of: "ratio"; readonly atMost: number; readonly wanted?: number }
  | { readonly of: "ratio"; readonly atLeast: number; readonly wanted?: number }
  /** `ours - reference`. */
  | { readonly of: "difference"; readonly atMost: number; readonly wanted?: number }

export interface Measurement {
  readonly metric: string
  readonly unit: string
  readonly ours: number
  /** The strongest other way to do it, measured in the same run. */
  readonly reference?: {
    readonly name: string
    readonly value: number
    /** The median of the ratios of single rounds, where there are rounds. Default: ours divided by the value. */
    readonly ratio?: number
  }
  /** Without a bar the value is shown beside the others and cannot fail. */
  readonly bar?: Bar
}

/** One line of the answer; with `--json` printed as it is. */
export interface Metric {
  readonly bench: string
  readonly metric: string
  readonly unit: string
  readonly ours: number
  readonly reference: number | null
  readonly referenceName: string | null
  /** Ours divided by the reference. */
  readonly ratio: number | null
  readonly bar: string | null
  readonly holds: boolean | null
}

export interface Report {
  measured(measurement: Measurement): void
  /** Shows how far the benchmark is to the person who waits for it. */
  progressed(text: string): void
}

export interface Benchmark {
  readonly name: string
  readonly summary: string
  run(report: Report): Promise<void>
}

export function toMetric(bench: string, { metric, unit, ours, reference, bar }: Measurement): Metric {
  const ratio = reference ? (reference.ratio ?? ours / reference.value) : null
  return {
    bench,
    metric,
    unit,
    ours: round(ours),
    reference: reference ? round(reference.value) : null,
    referenceName: reference?.name ?? null,
    ratio: ratio === null ? null : round(ratio),
    bar: bar ? toText(bar) : null,
    holds: bar ? holds(bar, { ours, ratio, difference: reference ? ours - reference.value : null }) : null,
  }
}

function holds(bar: Bar, values: Readonly<Record<Bar["of"], number | null>>): boolean {
  const value = values[bar.of]
  if (value === null || !Number.isFinite(value)) return false
  return "atMost" in bar ? value <= bar.atMost : value >= bar.atLeast
}

const SUBJECTS: Readonly<Record<Bar["of"], string>> = {
  ours: "ours",
  ratio: "ratio",
  difference: "ours - reference",
}

function toText(bar: Bar): string {
  const limit = "atMost" in bar ? `<= ${bar.atMost}` : `>= ${bar.atLeast}`
  return `${SUBJECTS[bar.of]} ${limit}${bar.wanted === undefined ? "" : ` (wanted ${bar.wanted})`}`
}

/** Four significant digits: more is noise. */
function round(value: number): number {
  return Number.isInteger(value) && Math.abs(value) >= 1_000 ? value : Number(value.toPrecision(4))
}
