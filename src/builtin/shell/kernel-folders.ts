import { readlinkSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import type { PlainCommand } from "./plain-command.ts"

/** Where the kernel shows processes with their environments, devices, and its own settings. */
const KERNEL_FOLDERS = ["/proc", "/sys", "/dev"]
/** Programs that read all files below a folder. From the root these lead into the folders of the kernel. */
const DEEP_READERS = new Set(["egrep", "fgrep", "git", "grep", "rg"])
/** Nothing, and a folder of ordinary files. */
const HARMLESS = /^\/dev\/(?:null$|shm(?:\/|$))/
const MOST_LINKS = 40

/**
 * True if a word of the command, or the folder in which it runs, may be a path into a folder of the kernel, also through
 * links and behind the `=` or `@` of an option.
 */
export function leadsToKernel({ program, rest }: Pick<PlainCommand, "program" | "rest">, cwd: string): boolean {
  const paths = [".", ...rest.flatMap(toPaths)].map((path) => resolve(cwd, path))
  return paths.some((path) => [path, followLinks(path)].some((each) => isOfKernel(each, DEEP_READERS.has(program))))
}

/** What may be a path in a word: all of it, the value of `--option=value`, and what `name=@file` and a URL name. */
function toPaths(word: string): readonly string[] {
  return [word, word.replace(/^[^=]*=/, ""), word.replace(/^.*[=@]/, ""), word.replace(/^file:\/\/[^/]*/i, "")]
}

function isOfKernel(path: string, isRead: boolean): boolean {
  if (HARMLESS.test(path)) return false
  return (isRead && path === "/") || KERNEL_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/** The path without links. Of a path that does not exist, as far as it does: it may exist when the command runs. */
function followLinks(path: string, followed = 0): string {
  try {
    return realpathSync.native(path)
  } catch {
    const folder = dirname(path)
    if (folder === path || followed >= MOST_LINKS) return path
    const parent = followLinks(folder, followed)
    const target = readLink(join(parent, basename(path)))
    return target === undefined ? join(parent, basename(path)) : followLinks(resolve(parent, target), followed + 1)
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
