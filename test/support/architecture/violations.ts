import { readdirSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { dirname, join, posix, sep } from "node:path"
import { allows, type ImportTable, type Layer } from "./import-table.ts"
import { type FoundImport, findImports } from "./imports.ts"

export interface SourceFile {
  /** Below `src`, with `/`. */
  readonly path: string
  readonly imports: readonly FoundImport[]
}

/** One line per broken rule: the file, the line, the import and what forbids it. Empty if the tree follows the table. */
export function findViolations(sourceRoot: string, table: ImportTable): readonly string[] {
  const files = readSources(sourceRoot)
  const known = new Set(files.map((file) => file.path))
  return [
    ...files.flatMap((file) => findUnknownPlaces(file, table)),
    ...files
      .filter((file) => !isTest(file.path))
      .flatMap((file) =>
        file.imports.flatMap((found) => {
          const rule = findBrokenRule(file.path, found, known, table)
          return rule ? [`src/${file.path}:${found.line} imports "${found.specifier}": ${rule}`] : []
        }),
      ),
    ...findCycles(files),
  ]
}

export function readSources(sourceRoot: string): readonly SourceFile[] {
  return readdirSync(sourceRoot, { recursive: true, encoding: "utf8" })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .toSorted()
    .map((path) => ({ path, imports: findImports(path, readFileSync(join(sourceRoot, path), "utf8")) }))
}

/** Tests are not published. The helpers that only tests use lie in `test/support`. */
export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path)

/** The folder of `src` a file is in, or the file itself at the top. */
const toPlace = (path: string): string => path.split("/")[0] ?? path

function findUnknownPlaces(file: SourceFile, table: ImportTable): readonly string[] {
  const place = toPlace(file.path)
  if (place in table.layers) return []
  if (isTest(file.path) && place === file.path && place.replace(/\.test\.ts$/, ".ts") in table.layers) return []
  return [`src/${file.path}: the import table does not know "${place}"`]
}

function findBrokenRule(
  path: string,
  { specifier, isComputed }: FoundImport,
  known: ReadonlySet<string>,
  table: ImportTable,
): string | undefined {
  const place = toPlace(path)
  const layer = table.layers[place]
  if (!layer) return undefined
  if (isComputed) {
    return table.computed.includes(place) ? undefined : `${place} may not import a module by a computed name`
  }
  if (isBuiltin(specifier)) {
    return table.pure.includes(place) ? `${place} runs in a browser and may import no Node module` : undefined
  }
  if (!specifier.startsWith(".")) return findBrokenPackageRule(path, specifier, table)
  const target = posix.join(dirname(path), specifier)
  if (target.startsWith("..")) return "code in src imports nothing outside of it"
  if (!known.has(target)) return "there is no such file"
  if (isTest(target)) return "only tests import tests"
  return findBrokenLayerRule(path, target, layer, table)
}

function findBrokenLayerRule(path: string, target: string, layer: Layer, table: ImportTable): string | undefined {
  const [place, targetPlace] = [toPlace(path), toPlace(target)]
  if (place !== targetPlace) {
    if (allows(layer, targetPlace)) return undefined
    return `${place} may import only ${layer.imports.join(", ") || "itself"}`
  }
  if (!table.leaves.includes(place)) return undefined
  const [leaf, targetLeaf] = [toLeaf(path), toLeaf(target)]
  if (leaf === targetLeaf || leaf === undefined || targetLeaf === undefined) return undefined
  if (table.common.includes(`${place}/${targetLeaf}`)) return undefined
  return `${place}/${leaf} and ${place}/${targetLeaf} are leaves: neither may import the other`
}

const toLeaf = (path: string): string | undefined => {
  const parts = path.split("/")
  return parts.length > 2 ? parts[1] : undefined
}

function findBrokenPackageRule(path: string, specifier: string, table: ImportTable): string | undefined {
  const owner = Object.keys(table.layers)
    .filter((name) => path === name || path.startsWith(`${name}/`))
    .reduce((longest, name) => (name.length > longest.length ? name : longest), "")
  const packages = table.layers[owner]?.packages ?? []
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
  if (packages.includes(name)) return undefined
  return `${owner} may import ${packages.length > 0 ? `only the packages ${packages.join(", ")}` : "no package"}`
}

function findCycles(files: readonly SourceFile[]): readonly string[] {
  const targets = new Map(
    files.map((file) => [
      file.path,
      file.imports
        .filter((found) => found.specifier.startsWith("."))
        .map((found) => ({ target: posix.join(dirname(file.path), found.specifier), found })),
    ]),
  )
  const done = new Set<string>()
  const violations: string[] = []

  function follow(path: string, trail: readonly string[]): void {
    if (done.has(path)) return
    for (const { target, found } of targets.get(path) ?? []) {
      const start = [...trail, path].indexOf(target)
      if (start >= 0) {
        const cycle = [...trail, path].slice(start).concat(target).join(" → ")
        violations.push(`src/${path}:${found.line} imports "${found.specifier}": it closes a cycle, ${cycle}`)
      } else follow(target, [...trail, path])
    }
    done.add(path)
  }

  for (const file of files) follow(file.path, [])
  return violations
}
