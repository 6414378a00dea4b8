import { z } from "zod"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import { isMeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import type { DurationEstimate } from "../../plugin/task-service.ts"
import type { WorkspaceId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import { addDurations, EMPTY_HISTOGRAM, type Histogram, quantileMs } from "./histogram.ts"

/** What earlier calls took, one histogram per shape of call. Lost observations only make an estimate a little worse. */
export interface Durations {
  observe(workspace: WorkspaceId, shape: string, durationMs: number): void
  estimate(workspace: WorkspaceId, shape: string, guessMs: number | undefined): Promise<DurationEstimate | null>
  flush(): Promise<void>
}

const COLLECTION = "durations"
const FLUSH_AFTER_MS = 2_000
const ATTEMPTS = 5
const histogramSchema = lazily(() => z.object({ counts: z.record(z.string(), z.number()), total: z.number() }))

interface Pending {
  readonly workspace: WorkspaceId
  readonly shape: string
  readonly durationsMs: number[]
}

export function createDurations({ store, clock }: { store: TaskStore; clock: Clock }): Durations {
  const pending = new Map<string, Pending>()
  let cancelFlush: CancelTimer | undefined

  async function read(workspace: WorkspaceId, shape: string) {
    const document = await store.document(workspace, COLLECTION, shape)
    const parsed = histogramSchema().safeParse(document?.value)
    return { version: document?.version ?? 0, histogram: parsed.success ? parsed.data : EMPTY_HISTOGRAM }
  }

  async function write({ workspace, shape, durationsMs }: Pending): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { version, histogram } = await read(workspace, shape)
      const { counts, total } = addDurations(histogram, durationsMs)
      try {
        await store.commit([
          {
            op: "document.put",
            workspace,
            collection: COLLECTION,
            id: shape,
            value: { counts, total },
            expectedVersion: version,
          },
        ])
        return
      } catch (error) {
        if (!isMeanwhileError(error, "version_conflict") || attempt === ATTEMPTS) throw error
      }
    }
  }

  async function flush(): Promise<void> {
    cancelFlush?.()
    cancelFlush = undefined
    const batch = [...pending.values()]
    pending.clear()
    await Promise.allSettled(batch.map(write))
  }

  return {
    flush,
    observe(workspace, shape, durationMs) {
      const key = `${workspace} ${shape}`
      const known = pending.get(key)
      if (known) known.durationsMs.push(durationMs)
      else pending.set(key, { workspace, shape, durationsMs: [durationMs] })
      cancelFlush ??= clock.schedule(FLUSH_AFTER_MS, () => void flush(), { isBackground: true })
    },
    async estimate(workspace, shape, guessMs) {
      const stored = await read(workspace, shape)
      const histogram = addDurations(stored.histogram, pending.get(`${workspace} ${shape}`)?.durationsMs ?? [])
      return toEstimate(histogram, guessMs)
    },
  }
}

function toEstimate(histogram: Histogram, guessMs: number | undefined): DurationEstimate | null {
  if (histogram.total > 0) {
    return { medianMs: quantileMs(histogram, 0.5), p90Ms: quantileMs(histogram, 0.9), source: "history" }
  }
  return guessMs === undefined ? null : { medianMs: guessMs, p90Ms: guessMs, source: "guess" }
}
