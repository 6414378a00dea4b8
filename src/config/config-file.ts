import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { adviseOnSyntax } from "./es-module.ts"

const FILE_NAMES = ["ts", "js", "mjs", "json"].map((ending) => `meanwhile.config.${ending}`)

/** A configuration that lies in a folder, read but not run. */
export interface ConfigFile {
  /** The name of the file in its folder. */
  readonly name: string
  /** The path with all links followed, so that trust is about what is really there. */
  readonly path: string
  readonly content: Uint8Array
}

/** Undefined: the folder has no configuration. Folders above are never searched. */
export async function findConfigFile(directory: string): Promise<ConfigFile | undefined> {
  const isThere = await Promise.all(FILE_NAMES.map((name) => isFile(join(directory, name))))
  const [found, second] = FILE_NAMES.filter((_, index) => isThere[index])
  if (found === undefined) return undefined
  if (second !== undefined) {
    const message = `There are two configurations in ${directory}, ${found} and ${second}. Remove one of them.`
    throw new MeanwhileError("invalid_input", message)
  }
  const path = await realpath(join(directory, found))
  return { name: found, path, content: await readFile(path) }
}

/** Contract: runs the file's code unless it is JSON. Only for files that are trusted. */
export async function evaluateConfigFile(file: ConfigFile): Promise<unknown> {
  // The hash makes a changed file another module: Node would answer with the one it has loaded before.
  const url = `${pathToFileURL(file.path).href}?content=${createHash("sha256").update(file.content).digest("hex")}`
  try {
    if (file.path.endsWith(".json")) return JSON.parse(new TextDecoder().decode(file.content)) as unknown
    const module = (await import(/* @vite-ignore */ url)) as { readonly default?: unknown }
    if (module.default !== undefined) return module.default
  } catch (error) {
    const reason = file.path.endsWith(".json") ? toErrorMessage(error) : describeProblem(error, url)
    throw new MeanwhileError("invalid_input", `${file.path} cannot be read: ${reason}`, {}, { cause: error })
  }
  throw new MeanwhileError("invalid_input", `${file.path} has no default export. Write \`export default { … }\`.`)
}

/** True for a plain file. A link to a device, which a cloned folder can hold, would be read without end. */
async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  )
}

/** The error of a module that was run, its place in the file, and the remedy where one is known. */
function describeProblem(error: unknown, moduleUrl: string): string {
  const path = fileURLToPath(moduleUrl)
  const advice = adviseOnSyntax(error, path)
  if (advice !== undefined) return `${advice}.`
  const line = findLine(error, moduleUrl) ?? findSyntaxLine(error, path)
  const place = line === undefined ? "" : `line ${line}: `
  return `${place}${toErrorMessage(error)}${toAdvice(error)}`
}

/** The stack names the module as it was imported. */
function findLine(error: unknown, moduleUrl: string): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : ""
  const at = stack.indexOf(moduleUrl)
  return at === -1 ? undefined : /^:(\d+)/.exec(stack.slice(at + moduleUrl.length))?.[1]
}

/** The place of a syntax error, which Node prints only to its own stderr. Nothing of the file is run. */
function findSyntaxLine(error: unknown, path: string): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined
  const { stderr } = spawnSync(process.execPath, ["--check", path], { encoding: "utf8", timeout: 5_000 })
  const [first = ""] = stderr.split("\n", 1)
  return /:(\d+)$/.exec(first)?.[1]
}

function toAdvice(error: unknown): string {
  if (!toErrorMessage(error).startsWith("Cannot find package 'meanwhile'")) return ""
  return (
    ". The package is not installed in that folder, and need not be: take the type alone, with " +
    '`import type { ConfigInput } from "meanwhile"` and `export default { … } satisfies ConfigInput`, or export a plain object.'
  )
}
