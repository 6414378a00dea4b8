import { isUtf8 } from "node:buffer"
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { isAbsolute, relative, resolve, sep } from "node:path"
import { MeanwhileError } from "../../base/error.ts"

export interface BoundedText {
  readonly text: string
  /** Bytes of the whole file. */
  readonly totalBytes: number
  readonly isCut: boolean
}

/** Reads the beginning of a text file inside the folder. Links are followed as long as they stay inside. */
export async function readInside(folder: string, path: string, limitBytes: number): Promise<BoundedText> {
  const real = await realpath(resolve(folder, path)).catch((error: unknown) => {
    throw new MeanwhileError("not_found", `There is no file "${path}". Put the reference right.`, {}, { cause: error })
  })
  if (!isInside(await realpath(folder), real)) {
    const message = `"${path}" leads out of the folder that references are read from. Only files inside can be read.`
    throw new MeanwhileError("permission_denied", message)
  }
  await using handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stats = await handle.stat()
  if (!stats.isFile()) throw new MeanwhileError("invalid_input", `"${path}" is not a file. Refer to a text file.`)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(stats.size, limitBytes)))
  const isCut = stats.size > bytesRead
  const bytes = toWholeCharacters(buffer.subarray(0, bytesRead), isCut)
  if (bytes.includes(0) || !isUtf8(bytes)) {
    throw new MeanwhileError("invalid_input", `"${path}" is not UTF-8 text. Refer to a text file.`)
  }
  return { text: bytes.toString().replace(/^\ufeff/, ""), totalBytes: stats.size, isCut }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Takes off a last character that the limit has cut. */
function toWholeCharacters(bytes: Buffer, isCut: boolean): Buffer {
  if (!isCut) return bytes
  let end = bytes.length
  while (end > bytes.length - 4 && end > 0 && !isUtf8(bytes.subarray(0, end))) end--
  return bytes.subarray(0, end)
}
