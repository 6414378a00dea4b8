import { createHash } from "node:crypto"
import { readFile, realpath, stat } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { describeProblem } from "./evaluation-problem.ts"

const FILE_NAMES = ["ts", "js", "mjs", "json"].map((ending) => `meanwhile.config.${ending}`)

/** A configuration that lies in a folder, read but not run. */
export interface ConfigFile {
  /** As it lies in its folder. */
  readonly name: string
  /** With all links followed, so that trust is about what is really there. */
  readonly path: string
  readonly content: Uint8Array
}

/** Undefined: the folder has no configuration. Folders above are never searched. */
export async function findConfigFile(directory: string): Promise<ConfigFile | undefined> {
  const isThere = await Promise.all(FILE_NAMES.map((name) => isFile(join(directory, name))))
  const [found, second] = FILE_NAMES.filter((_, index) => isThere[index])
  if (found === undefined) return undefined
  if (second !== undefined) {
    throw new MeanwhileError(
      "invalid_input",
      `There are two configurations in ${directory}, ${found} and ${second}. Remove one of them.`,
    )
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
    throw new MeanwhileError(
      "invalid_input",
      `${file.path} cannot be read: ${file.path.endsWith(".json") ? toErrorMessage(error) : describeProblem(error, url)}`,
      {},
      { cause: error },
    )
  }
  throw new MeanwhileError("invalid_input", `${file.path} has no default export. Write \`export default { … }\`.`)
}

/** A link to a device, which a cloned folder can hold, would be read without end. */
async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  )
}
