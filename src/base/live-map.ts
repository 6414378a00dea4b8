/** A map whose entries come and go by the thousands. */
export interface LiveMap<Key, Value> {
  readonly size: number
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** A copy: later changes of the map do not show in it. */
  values(): readonly Value[]
}

/** The map is rebuilt once the entries deleted since the last rebuild outnumber the remaining ones by this many. */
const MOST_GONE = 16

/**
 * A `Map` that is rebuilt now and then. When a map is resized, V8 leaves its old table behind, which still holds its
 * entries and points to the new table. Once one old table has moved to the old generation, every later table stays in
 * memory, with all its former entries, until the next full garbage collection.
 */
export function createLiveMap<Key, Value>(): LiveMap<Key, Value> {
  let known = new Map<Key, Value>()
  let goneCount = 0
  return {
    get size() {
      return known.size
    },
    get: (key) => known.get(key),
    has: (key) => known.has(key),
    set: (key, value) => void known.set(key, value),
    delete(key) {
      if (!known.delete(key)) return
      goneCount += 1
      if (goneCount < MOST_GONE + known.size) return
      known = new Map(known)
      goneCount = 0
    },
    values: () => [...known.values()],
  }
}
