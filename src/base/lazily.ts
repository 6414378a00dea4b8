/** Makes a value at its first use and remembers it: a schema costs time and memory, and most programs use few. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}
