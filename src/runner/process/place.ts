import { statSync } from "node:fs"
import { dirname, resolve } from "node:path"

/** Where a process file lies when its command starts: the inode and the path of its folder, without spaces. */
export function toPlace(processFile: string): string {
  const folder = resolve(dirname(processFile))
  return `${inodeOf(folder)}:${encodeURIComponent(folder)}`
}

/**
 * True if the file was copied from a place that is still there. The process belongs to the original, which would see it
 * stopped. After a move nothing is left at the former place.
 */
export function isCopied(processFile: string, place: string | undefined): boolean {
  if (place === undefined || place === toPlace(processFile)) return false
  const [inode = "", folder = ""] = place.split(":")
  return inodeOf(decodeURIComponent(folder)) === inode && inodeOf(dirname(processFile)) !== inode
}

function inodeOf(folder: string): string {
  return String(statSync(folder, { throwIfNoEntry: false })?.ino ?? "none")
}
