import { readFile, realpath, stat } from "node:fs/promises"
import { createRequire, findPackageJSON } from "node:module"
import { isAbsolute, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { z } from "zod"
import { lazily } from "../base/lazily.ts"
import { unlessMissing } from "../base/system-error.ts"
import type { DiscoveryEntry, LoadPlugin } from "../plugin/discovery.ts"
import { adviseOnSyntax } from "./es-module.ts"

/**
 * Loads plugins for a registry: paths, of modules or of packages' folders, are relative to the directory; packages are
 * those installed for it. The module's default export (or `plugin`, or `createPlugin`) is the plugin, or a function
 * that makes it from its configuration.
 */
export function createPluginLoader({ directory }: { readonly directory: string }): LoadPlugin {
  return async (entry) => {
    const path = isPath(entry.source)
      ? await toModulePath(resolve(directory, entry.source))
      : await findPackage(directory, entry.source)
    return toPlugin(await importModule(await realpath(path)), entry)
  }
}

async function importModule(path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    const advice = adviseOnSyntax(error, path)
    throw advice === undefined ? error : new Error(advice, { cause: error })
  }
}

function isPath(source: string): boolean {
  return source.startsWith("./") || source.startsWith("../") || isAbsolute(source)
}

/** The module that the manifest in a package's folder names. */
async function toModulePath(path: string): Promise<string> {
  const stats = await unlessMissing(stat(path))
  if (!stats) throw new Error(`there is no file ${path}. The path of a plugin is from the folder of the configuration`)
  if (!stats.isDirectory()) return path
  const target = await readEntry(join(path, "package.json"))
  if (target !== undefined) return target
  throw new Error(`${path} is a folder whose package.json names no \`exports\`. Name the plugin's file`)
}

async function toPlugin(module: Record<string, unknown>, { source, config }: DiscoveryEntry): Promise<unknown> {
  const exported = module["default"] ?? module["plugin"] ?? module["createPlugin"]
  if (exported === undefined) throw new Error(`${source} exports no plugin: its default export must be one`)
  if (typeof exported !== "function") return exported
  return (exported as (config: unknown) => unknown)(config)
}

async function findPackage(directory: string, name: string): Promise<string> {
  const base = join(directory, "meanwhile.config.js")
  try {
    return createRequire(base).resolve(name)
  } catch (error) {
    const isImportOnly = error instanceof Error && "code" in error && error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED"
    const path = isImportOnly ? await findImportEntry(base, name) : undefined
    if (path !== undefined) return path
    throw new Error(`the package ${name} is not installed for ${directory}. Run: npm install ${name}`, { cause: error })
  }
}

interface ExportConditions {
  readonly [condition: string]: string | ExportConditions
}
const conditionsSchema = lazily(
  (): z.ZodType<string | ExportConditions> =>
    z.lazy(() => z.union([z.string(), z.record(z.string(), conditionsSchema())])),
)
const manifestSchema = lazily(() => z.looseObject({ exports: conditionsSchema() }))

/** The main entry of a package that can only be imported, which `require.resolve` does not find. */
async function findImportEntry(base: string, name: string): Promise<string | undefined> {
  const manifestPath = findPackageJSON(name, pathToFileURL(base))
  return manifestPath === undefined ? undefined : readEntry(manifestPath)
}

async function readEntry(manifestPath: string): Promise<string | undefined> {
  const manifest = manifestSchema().safeParse(JSON.parse(await readFile(manifestPath, "utf8")))
  const target = manifest.success ? pickImport(manifest.data.exports) : undefined
  return target === undefined ? undefined : resolve(manifestPath, "..", target)
}

function pickImport(conditions: string | ExportConditions): string | undefined {
  if (typeof conditions === "string") return conditions
  const next = conditions["."] ?? conditions["node"] ?? conditions["import"] ?? conditions["default"]
  return next === undefined ? undefined : pickImport(next)
}
