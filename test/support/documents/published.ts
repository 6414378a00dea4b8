import { readFileSync } from "node:fs"
import { join } from "node:path"

/** One entry of the package as its readers import it, with the names it exports. */
export interface PublishedEntry {
  readonly entry: string
  readonly values: readonly string[]
  readonly types: readonly string[]
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, { readonly "@meanwhile/source": string }>>
}

/** Every entry that the package's manifest names. */
export function readPublished(root: string): readonly PublishedEntry[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest
  return Object.entries(exports).map(([path, { "@meanwhile/source": source }]) => ({
    entry: name + path.slice(1),
    ...readNames(readFileSync(join(root, source), "utf8")),
  }))
}

const EXPORT = /^export (type )?\{([^}]*)\} from "[^"]+"$/gm

/** Throws unless the entry has nothing but re-exports by name. */
function readNames(source: string) {
  const rest = source.replace(EXPORT, "").trim()
  if (rest !== "") throw new Error(`An entry has only re-exports by name, not: ${rest}`)
  const names = [...source.matchAll(EXPORT)].flatMap(([, allTypes, list = ""]) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => ({
        name: name.replace(/^type /, ""),
        isType: allTypes !== undefined || name.startsWith("type "),
      })),
  )
  return {
    values: names.filter(({ isType }) => !isType).map(({ name }) => name),
    types: names.filter(({ isType }) => isType).map(({ name }) => name),
  }
}
