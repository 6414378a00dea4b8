import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { basename, extname } from "node:path"
import { pathToFileURL } from "node:url"
import { isJsonObject, type JsonValue } from "../base/json.ts"

/** Node's words for an ES module that it reads as CommonJS. */
const READ_AS_COMMONJS =
  /^(?:Unexpected token 'export'|Cannot use (?:import statement|'import\.meta') outside a module|await is only valid)/

/** The cause and the remedy, where Node has refused an ES module because of its folder's package.json. */
export function adviseOnSyntax(error: unknown, path: string): string | undefined {
  return error instanceof SyntaxError && READ_AS_COMMONJS.test(error.message) ? adviseEsModule(path) : undefined
}

/** The remedy where Node reads the file as CommonJS because the nearest package.json says so; undefined: it does not. */
export function adviseEsModule(path: string): string | undefined {
  const ending = extname(path)
  if (ending !== ".ts" && ending !== ".js") return undefined
  const manifest = findPackageJSON(pathToFileURL(path))
  if (manifest === undefined || !saysCommonJs(manifest)) return undefined
  const other = `${basename(path, ending)}.mjs${ending === ".ts" ? ", without types" : ""}`
  return `it is an ES module, but ${manifest} says "type": "commonjs". Write "type": "module" there, or name the file ${other}`
}

function saysCommonJs(manifest: string): boolean {
  try {
    const content = JSON.parse(readFileSync(manifest, "utf8")) as JsonValue
    return isJsonObject(content) && content["type"] === "commonjs"
  } catch {
    return false
  }
}
