import { statfsSync } from "node:fs"

/** Whether a write there must fail for want of space or of file entries. */
export function isDiskFull(directory: string): boolean {
  const { bfree, bavail, files, ffree } = statfsSync(directory)
  const freeBlocks = process.getuid?.() === 0 ? bfree : bavail
  return freeBlocks === 0 || (files > 0 && ffree === 0)
}
