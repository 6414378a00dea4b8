import { systemClock } from "../../../base/clock.ts"

/** Jobs whose runs have left the queue, removed a batch at a time. One that is forgotten is found again and dropped then. */
export interface Removals {
  add(plugin: string, jobId: string): void
  /** Waits for what was added before. */
  close(): Promise<void>
}

const COLLECT_MS = 20

export function createRemovals(remove: (plugin: string, jobIds: readonly string[]) => Promise<void>): Removals {
  let waiting = new Map<string, string[]>()
  let cancelTimer: (() => void) | undefined
  let flushing: Promise<unknown> = Promise.resolve()

  function flush(): void {
    cancelTimer?.()
    cancelTimer = undefined
    const batch = waiting
    waiting = new Map()
    flushing = Promise.all([flushing, ...[...batch].map(([plugin, jobIds]) => remove(plugin, jobIds).catch(ignore))])
  }

  return {
    add(plugin, jobId) {
      const ofPlugin = waiting.get(plugin)
      if (ofPlugin) ofPlugin.push(jobId)
      else waiting.set(plugin, [jobId])
      cancelTimer ??= systemClock.schedule(COLLECT_MS, flush, { isBackground: true })
    },
    async close() {
      flush()
      await flushing
    },
  }
}

function ignore(): void {}
