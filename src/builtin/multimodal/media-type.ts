import { extname } from "node:path"
import { toImageType } from "../../base/image-type.ts"

type Start = readonly [mediaType: string, hexadecimal: RegExp]

const OTHERS: readonly Start[] = [
  ["application/pdf", /^255044462d/],
  ["application/zip", /^504b0304/],
  ["application/gzip", /^1f8b/],
]
const TEXTS: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".html": "text/html",
  ".json": "application/json",
  ".js": "text/javascript",
  ".md": "text/markdown",
  ".svg": "image/svg+xml",
  ".ts": "text/x-typescript",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
}

export interface MediaType {
  readonly mediaType: string
  /** The ability a model needs to read it. */
  readonly reading: "image" | "text" | "none"
}

/** Finds the type by the first few thousand bytes of the file; for text, by its name as well. */
export function toMediaType(path: string, head: Uint8Array): MediaType {
  const image = toImageType(head)
  if (image !== undefined) return { mediaType: image, reading: "image" }
  const other = findStart(OTHERS, head)
  if (other !== undefined) return { mediaType: other, reading: "none" }
  if (!isText(head)) return { mediaType: "application/octet-stream", reading: "none" }
  return { mediaType: TEXTS[extname(path).toLowerCase()] ?? "text/plain", reading: "text" }
}

function findStart(starts: readonly Start[], head: Uint8Array): string | undefined {
  const hexadecimal = Buffer.from(head.subarray(0, 16)).toString("hex")
  return starts.find(([, start]) => start.test(hexadecimal))?.[0]
}

function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false
  try {
    // A character may be cut at the end of what was read.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true })
    return true
  } catch {
    return false
  }
}
