import { isAbsolute, relative, sep } from "node:path"

/** Permitted use of a path inside the root. */
export type PathRight = "all" | "read" | "none"

export interface PathRules {
  /** Absolute. Neither read nor written, like the folder of Meanwhile itself. */
  readonly privatePaths: readonly string[]
  /** Absolute. Read, never written. */
  readonly protectedPaths: readonly string[]
}

/** Read-only at any depth: each decides what a program runs that somebody starts beside it or in a folder below. */
const READ_ONLY_NAMES = /^(?:\.git|git~1|\.mcp\.json|meanwhile\.config\..+)$/
const PRIVATE_NAMES = /^\.meanwhile$/

/** `path` is absolute and real; `relativePath` is the same from the root. */
export function rightTo(path: string, relativePath: string, rules: PathRules): PathRight {
  const names = toPlainPath(relativePath).split(sep)
  if (names.some((name) => PRIVATE_NAMES.test(name)) || isBelow(path, rules.privatePaths)) return "none"
  if (names.some((name) => READ_ONLY_NAMES.test(name)) || isBelow(path, rules.protectedPaths)) return "read"
  return "all"
}

/** Both absolute. A folder is inside itself. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isInside(toPlainPath(folder), toPlainPath(path)))
}

function toPlainPath(path: string): string {
  return path.split(sep).map(toPlainName).join(sep)
}

/** The name as a file system may see it that takes `.GIT`, `.git.` or a name with invisible characters for `.git`. */
function toPlainName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/[. ]+$/, "")
    .toLowerCase()
}
