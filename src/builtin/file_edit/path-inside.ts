import { isAbsolute, relative, sep } from "node:path"

/** Both absolute. A folder is inside itself. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
