/** A map of limited size, which drops the entry set longest ago. Setting a key again makes it the newest. */
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
      // A key is often set several times in a row: the newest key is already in its place.
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
