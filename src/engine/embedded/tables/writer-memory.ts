import { createLiveMap } from "../../../base/live-map.ts"

/**
 * Values by key, kept from one transaction to the next. If a writer is rolled back, the values that it has set are
 * forgotten.
 */
export interface WriterMemory<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** Called at the beginning of each writer. */
  beginWriter(): void
  /** Called when the writer's changes were rolled back. */
  forgetWriter(): void
  /**
   * Forgets everything once there are too many values. Not to be called within a writer, which may still ask for a
   * value it has set.
   */
  limit(): void
  clear(): void
}

export function createWriterMemory<Key, Value>(most: number): WriterMemory<Key, Value> {
  let known = createLiveMap<Key, Value>()
  let ofWriter: Key[] = []
  return {
    get: (key) => known.get(key),
    set(key, value) {
      ofWriter.push(key)
      known.set(key, value)
    },
    delete: (key) => known.delete(key),
    beginWriter() {
      if (ofWriter.length > 0) ofWriter = []
    },
    forgetWriter() {
      for (const key of ofWriter) known.delete(key)
    },
    limit() {
      if (known.size > most) clear()
    },
    clear,
  }

  function clear(): void {
    known = createLiveMap()
  }
}
