import type { TaskId } from "../../task/id.ts"
import type { Outputs } from "../../task/outputs.ts"
import type { OutputSource } from "./output-files.ts"

const MOST_READINGS = 100

/** Reads what the store has of a run's output. Undefined when it has nothing. */
export async function withStoredSource<Result>(
  outputs: Outputs,
  taskId: TaskId,
  run: number,
  use: (source: OutputSource) => Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  for (let reading = 1; ; reading++) {
    const extent = await outputs.extent(taskId, run)
    if (!extent) return undefined
    let isCut = false
    const result = await use({
      ...extent,
      async read(start, end) {
        const { buffer, byteOffset, byteLength } = await outputs.read(taskId, run, start, end)
        if (byteLength < end - start) isCut = true
        return Buffer.from(buffer, byteOffset, byteLength)
      },
    })
    // Reads again if bytes were dropped during the read.
    if (!isCut || reading === MOST_READINGS) return { result }
  }
}

/** Reads the files of a run that another worker had before. What the run printed there is read from the store. */
export async function withEarlierOutput<Result>(
  outputs: Outputs,
  taskId: TaskId,
  run: number,
  source: OutputSource,
  use: (source: OutputSource) => Promise<Result>,
): Promise<Result> {
  const { firstOffset: border, totalBytes } = source
  const joined = await withStoredSource(outputs, taskId, run, (stored) => {
    if (stored.totalBytes < border || stored.firstOffset >= border) return use(source)
    return use({
      restarts: stored.restarts,
      firstOffset: stored.firstOffset,
      totalBytes,
      async read(start, end) {
        const before = start < border ? await stored.read(start, Math.min(end, border)) : Buffer.alloc(0)
        return end > border ? Buffer.concat([before, await source.read(Math.max(start, border), end)]) : before
      },
    })
  })
  return joined ? joined.result : use(source)
}
