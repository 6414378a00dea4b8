import { statSync } from "node:fs"
import { relative, resolve, sep } from "node:path"
import { parseArgs } from "node:util"

export interface MutationOptions {
  readonly seed: number
  readonly count: number
  /** Below `src`, relative to the root of the repository. */
  readonly paths: readonly string[]
}

const AREAS = ["src/task", "src/engine/rules", "src/runner", "src/session"]
const DEFAULT_COUNT = 200
const LARGEST_SEED = 2 ** 31 - 1

export const MUTATION_USAGE = `usage: node scripts/mutate.ts [--seed N] [--count N] [PATH…]

Changes one small thing of a source at a time, in a copy, and lists the changes that no fast test notices. Tries ${DEFAULT_COUNT} of them.
PATH is a folder or file below src. Default: ${AREAS.join(" ")}.`

/** Throws an error with a sentence for the person when an argument is wrong. */
export function readMutationOptions(root: string, args: readonly string[], givenSeed?: string): MutationOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { seed: { type: "string" }, count: { type: "string" } },
    allowPositionals: true,
  })
  const seed = values.seed ?? givenSeed ?? String(Math.floor(Math.random() * LARGEST_SEED))
  return {
    seed: toNumber("--seed", seed, 0),
    count: toNumber("--count", values.count ?? String(DEFAULT_COUNT), 1),
    paths: (positionals.length > 0 ? positionals : AREAS).map((path) => toSourcePath(root, path)),
  }
}

function toNumber(name: string, text: string, least: number): number {
  const number = Number(text)
  if (text !== "" && Number.isSafeInteger(number) && number >= least && number <= LARGEST_SEED) return number
  throw new Error(`${name} is ${JSON.stringify(text)}. Give a whole number from ${least} to ${LARGEST_SEED}.`)
}

function toSourcePath(root: string, path: string): string {
  const found = relative(root, resolve(root, path)).split(sep).join("/")
  if (found !== "src" && !found.startsWith("src/")) throw new Error(`${path} does not lie below src.`)
  if (!statSync(resolve(root, found), { throwIfNoEntry: false })) throw new Error(`There is no ${path}.`)
  return found
}
