import { isUtf8 } from "node:buffer"
import { MeanwhileError } from "../../base/error.ts"

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Undefined for anything but UTF-8 text. A byte order mark stays: what is written back must be what was there. */
export function toText(bytes: Buffer): string | undefined {
  return bytes.includes(0) || !isUtf8(bytes) ? undefined : decoder.decode(bytes)
}

export function requireText(bytes: Buffer, path: string): string {
  const text = toText(bytes)
  if (text !== undefined) return text
  const what = `a binary file of ${bytes.length} bytes, not UTF-8 text`
  const message = `"${path}" is ${what}. Use a command that knows its format.`
  throw new MeanwhileError("invalid_input", message, { path, bytes: bytes.length })
}
