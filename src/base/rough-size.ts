/** Bytes of an object or a list, with its slot in its container. */
const HOLDER_BYTES = 48
const PLAIN_BYTES = 8

/**
 * About how many bytes of memory a value of JSON takes. Without a call per level: however deep it is, it has a size.
 */
export function toRoughBytes(value: unknown): number {
  let bytes = 0
  const open = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part === "string") bytes += HOLDER_BYTES + 2 * part.length
    else if (typeof part !== "object" || part === null) bytes += PLAIN_BYTES
    else {
      bytes += HOLDER_BYTES
      for (const key of Object.keys(part)) bytes += PLAIN_BYTES + key.length
      for (const inner of Object.values(part)) open.push(inner)
    }
  }
  return bytes
}
