/** How many bytes at the end begin a UTF-8 character that goes on after them. */
export function cutCharacterBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    return characterLength(byte) > back ? back : 0
  }
  return 0
}

/** How many bytes at the beginning continue a UTF-8 character that began before them. */
export function countContinuation(bytes: Uint8Array): number {
  const first = bytes.findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000)
  return first < 0 ? bytes.length : first
}

function characterLength(firstByte: number): number {
  if (firstByte >= 0xf0 && firstByte <= 0xf4) return 4
  if (firstByte >= 0xe0 && firstByte < 0xf0) return 3
  if (firstByte >= 0xc2 && firstByte < 0xe0) return 2
  return 1
}
