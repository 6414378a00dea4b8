/** What lives now, by its id: values that come and go by the thousand. */
export interface LiveMap<Key extends string | number, Value> {
  readonly size: number
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): void
  delete(key: Key): void
  /** As they are now: what comes or goes while they are read changes nothing about it. */
  values(): readonly Value[]
}

/**
 * Not a `Map`: to make room, that moves into a new table and leaves the old one behind, which holds what was in it and leads
 * to the new one. When one of these has grown old in memory, all after it stay, with all that was ever in them, until the
 * next full garbage collection.
 */
export function createLiveMap<Key extends string | number, Value>(): LiveMap<Key, Value> {
  const known = Object.create(null) as Record<Key, Value>
  let size = 0
  return {
    get size() {
      return size
    },
    get: (key) => known[key],
    has: (key) => key in known,
    set(key, value) {
      if (!(key in known)) size += 1
      known[key] = value
    },
    delete(key) {
      if (!(key in known)) return
      Reflect.deleteProperty(known, key)
      size -= 1
    },
    values: () => Object.values(known),
  }
}
