import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** Files that judge what should have happened: the product's own rules must not be their source. */
const JUDGES = [
  "test/{chaos,support/chaos}/**/*.ts",
  "src/engine/suite/{oracle,store-model,model-*,describe-model}.ts",
  "src/task/transition.test.ts",
]
const RULES = /^import (?!type )[^"]*"[./]+(?:[a-z]+\/)*(?:lifecycle|rules\/[\w/-]+)\.ts"/gm
/** The test that judges `transition` itself, and must not read the table beside it. */
const JUDGE_OF_TRANSITION = "src/task/transition.test.ts"

function findRules(file: string, source: string): readonly string[] {
  const found = source.match(RULES) ?? []
  return file === JUDGE_OF_TRANSITION ? found.filter((line) => !line.startsWith("import { transition } ")) : found
}

test("tests that judge the lifecycle use a table of their own and import only types from the product's", () => {
  const files = globSync(JUDGES)
  expect(files.length).toBeGreaterThan(40)
  expect(files).toContain(JUDGE_OF_TRANSITION)
  const found = files.flatMap((file) => findRules(file, readFileSync(file, "utf8")).map((line) => `${file}: ${line}`))
  expect(found).toEqual([])
})

test("an import of the product's table would be found", () => {
  const source =
    'import { nextStatus } from "../../src/task/lifecycle.ts"\nimport type { RunStatus } from "./lifecycle.ts"'
  expect(findRules("test/chaos/any.test.ts", source)).toHaveLength(1)
  expect(findRules(JUDGE_OF_TRANSITION, source)).toHaveLength(1)
})

test("only the test of `transition` may import `transition`", () => {
  const source = 'import { transition } from "./lifecycle.ts"'
  expect(findRules("test/chaos/any.test.ts", source)).toHaveLength(1)
  expect(findRules(JUDGE_OF_TRANSITION, source)).toEqual([])
})
