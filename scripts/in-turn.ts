import { spawn } from "node:child_process"

/**
 * Runs npm scripts one after another, also after one that failed: `node scripts/in-turn.ts NAME… [-- ARGUMENT…]`. The
 * arguments are for the first. Exits as the first that failed.
 */
const [names, rest] = splitArguments(process.argv.slice(2))
for (const [index, name] of names.entries()) {
  const exitCode = await run(name, index === 0 ? rest : [])
  process.exitCode ||= exitCode
}

function splitArguments(given: readonly string[]): readonly [readonly string[], readonly string[]] {
  const end = given.indexOf("--")
  return end < 0 ? [given, []] : [given.slice(0, end), given.slice(end + 1)]
}

function run(name: string, args: readonly string[]): Promise<number> {
  const child = spawn("npm", ["run", "--silent", name, "--", ...args], { stdio: "inherit" })
  return new Promise((resolve) => child.once("close", (exitCode) => resolve(exitCode ?? 1)))
}
