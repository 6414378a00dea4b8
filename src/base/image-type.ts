type Start = readonly [mediaType: string, hexadecimal: RegExp]

/** Images that models can be shown, by their first bytes: a name, or a declared type, can say anything. */
const IMAGES: readonly Start[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
]

/** How many first bytes are looked at. */
const HEAD_BYTES = 16

/** The media type of an image that models can be shown; undefined for anything else. */
export function toImageType(bytes: Uint8Array): string | undefined {
  const hexadecimal = Array.from(bytes.subarray(0, HEAD_BYTES), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return IMAGES.find(([, start]) => start.test(hexadecimal))?.[0]
}
