/** A map of live things by key: thousands come and go. */
export interface LiveMap<Key, Value> {
  readonly size: number
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** As they are now: what comes or goes while they are read changes nothing about it. */
  values(): readonly Value[]
}

/** How many may go before the map is made anew, beside as many as there are. */
const MOST_GONE = 16

/**
 * A `Map` that is made anew now and then. To make room, a map moves into a new table and leaves the old one behind,
 * which holds what was in it and leads to the new one: when one of them has grown old in memory, all after it stay,
 * with all that was ever in them, until the next full garbage collection.
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
