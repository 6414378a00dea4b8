import { globSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

/** They say what should have happened: what the product does by its own rules must not be their source. */
const JUDGES = [
  "test/{chaos,support/chaos}/**/*.ts",
  "src/engine/suite/{oracle,store-model,model-*,describe-model}.ts",
  "src/task/transition.test.ts",
]
/** `transition` is what is judged; the table beside it is not to be read. */
const RULES = /^import (?!type |\{ transition \} )[^"]*"[./]+(?:[a-z]+\/)*(?:lifecycle|rules\/[\w/-]+)\.ts"/gm

test("tests that judge the lifecycle use a table of their own and import only types from the product's", () => {
  const files = globSync(JUDGES)
  expect(files.length).toBeGreaterThan(40)
  const found = files.flatMap((file) =>
    (readFileSync(file, "utf8").match(RULES) ?? []).map((line) => `${file}: ${line}`),
  )
  expect(found).toEqual([])
})

test("an import of the product's table would be found", () => {
  const source =
    'import { nextStatus } from "../../src/task/lifecycle.ts"\nimport type { RunStatus } from "./lifecycle.ts"'
  expect(source.match(RULES)).toHaveLength(1)
})
