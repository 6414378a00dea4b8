import { expect, test } from "vitest"
import type { TestSpecification, Vitest } from "vitest/node"
import { LongestFirst } from "./longest-first.ts"

const OTHER = "test/runner/large.slow.test.ts"
const LONG = [
  "test/examples.slow.test.ts",
  "test/package.slow.test.ts",
  "src/engine/postgres/engine.test.ts",
  "src/engine/postgres/engine.slow.test.ts",
  "test/cli/chat.slow.test.ts",
]

/** The order in a run that knows the durations of these files, and nothing about the others. */
async function order(durations: Readonly<Record<string, number>>): Promise<readonly string[]> {
  const getTestSpecificationResult = ({ moduleId }: TestSpecification) => {
    const duration = durations[moduleId.slice(1)]
    return duration === undefined ? undefined : { failed: false, duration }
  }
  const files = [OTHER, ...LONG.toSorted()].map((path) => toFile(path, "slow"))
  return (await sort(files, getTestSpecificationResult)).map(({ moduleId }) => moduleId.slice(1))
}

function toFile(path: string, name: string): TestSpecification {
  const project = { name, config: { isolate: true, sequence: { groupOrder: name === "fast" ? 0 : 1 } } }
  return { moduleId: `/${path}`, project } as unknown as TestSpecification
}

function sort(files: TestSpecification[], getTestSpecificationResult: (file: TestSpecification) => unknown) {
  const run = { cache: { getTestSpecificationResult } } as unknown as Vitest
  // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
  return new LongestFirst(run).sort(files)
}

test("in a fresh checkout, files whose tests take long are begun first", async () => {
  expect(await order({})).toEqual([...LONG, OTHER])
  expect(await order({ [OTHER]: 9 })).toEqual([...LONG, OTHER])
})

test("where all files have run before, those that took longest are begun first", async () => {
  const [first = "", ...others] = LONG
  const durations = Object.fromEntries(others.map((path, index) => [path, 6 - index]))
  expect(await order({ ...durations, [OTHER]: 7, [first]: 9 })).toEqual([first, OTHER, ...others])
})

test("projects are not mixed: the one with many short files comes last, whatever is known", async () => {
  const names = ["postgres", "slow", "fast", "postgres-slow"]
  const files = [...names, ...names].map((name, index) => toFile(`test/cli/${index}.test.ts`, name))
  for (const known of [undefined, { failed: false, duration: 1 }]) {
    const sorted = await sort(files, () => known)
    expect(sorted.map(({ project }) => project.name)).toEqual(
      ["fast", "slow", "postgres-slow", "postgres"].flatMap((name) => [name, name]),
    )
  }
})
