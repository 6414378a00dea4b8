import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { toErrorMessage } from "../base/error.ts"
import { adviseOnSyntax } from "./es-module.ts"

/** The error of a module that was run, its place in the file, and the remedy where one is known. */
export function describeProblem(error: unknown, moduleUrl: string): string {
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
