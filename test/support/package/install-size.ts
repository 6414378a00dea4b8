import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { manifest, peers, root } from "./consumer.ts"

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The folders that npm makes for the package's dependencies, by the lock file: of no development, and of no optional peer. */
export function listInstalled(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const found = new Set<string>()

  function add(name: string, from: string): void {
    const path = findFrom(from, name)
    if (path === undefined || found.has(path)) return
    found.add(path)
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] ?? {}
    const needed = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    for (const one of [...Object.keys(dependencies), ...needed]) add(one, path)
  }
  /** As Node looks: in the folder itself, then in those above it. */
  function findFrom(from: string, name: string): string | undefined {
    const places = [
      from,
      ...[...from.matchAll(/\/?node_modules\//g)].map(({ index }) => from.slice(0, index)).toReversed(),
    ]
    return places
      .map((place) => `${place === "" ? "" : `${place}/`}node_modules/${name}`)
      .find((path) => path in packages)
  }

  for (const name of [...Object.keys(manifest.dependencies), ...peers]) add(name, "")
  return [...found]
}

/** As `du` counts: the blocks of the folder and of all in it, but not of packages that have folders of their own. */
export function sizeOf(path: string): number {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.blocks * 512
  const within = readdirSync(path).filter((name) => name !== "node_modules")
  return within.reduce((sum, name) => sum + sizeOf(join(path, name)), stat.blocks * 512)
}
