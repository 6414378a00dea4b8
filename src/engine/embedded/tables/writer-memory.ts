import { createLiveMap } from "../../../base/live-map.ts"

/** Values by key, kept from one transaction to the next. A writer whose changes are taken back takes its own along. */
export interface WriterMemory<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** At the beginning of each writer. */
  beginWriter(): void
  /** The writer's changes were taken back. */
  forgetWriter(): void
  /** Forgets all when it is too much. Not within a writer, which may still ask for what it has set. */
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
