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

/** A map that forgets what was set longest ago once there are more than so many. Setting a key again makes it the newest. */
export interface NewestMap<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
  entries(): Iterable<readonly [Key, Value]>
  values(): Iterable<Value>
}

export function createNewestMap<Key, Value>(most: number, onForgotten?: (value: Value) => void): NewestMap<Key, Value> {
  const map = new Map<Key, Value>()
  let newest: Key | undefined
  return {
    get: (key) => map.get(key),
    set(key, value) {
      // Most are set several times in a row: the newest has its place.
      if (key !== newest) map.delete(key)
      newest = key
      map.set(key, value)
      if (map.size <= most) return
      const oldest = map.entries().next().value
      if (!oldest) return
      map.delete(oldest[0])
      onForgotten?.(oldest[1])
    },
    delete: (key) => void map.delete(key),
    clear: () => map.clear(),
    entries: () => map.entries(),
    values: () => map.values(),
  }
}
