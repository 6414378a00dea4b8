import { expect, test } from "vitest"
import { applyMutant, findMutants } from "../../scripts/mutation/find-mutants.ts"
import { readMutationOptions } from "../../scripts/mutation/mutation-options.ts"

const mutated = (source: string): readonly string[] =>
  findMutants("sample.ts", source).map((mutant) => applyMutant(source, mutant))

test.each([
  { source: "x = a === b", becomes: ["x = a !== b"] },
  { source: "x = (a) < (b)", becomes: ["x = (a) <= (b)"] },
  { source: "x = a && b", becomes: ["x = a || b"] },
  { source: "x = a + 1", becomes: ["x = a - 1"] },
  { source: "x = !a", becomes: ["x = a"] },
  { source: "x = true", becomes: ["x = false"] },
  { source: "x = a ? 1 : 2", becomes: ["x = !(a) ? 1 : 2"] },
  { source: "function f() { if (a) return }", becomes: ["function f() { if (!(a)) return }", "function f() { ; }"] },
  { source: "if (a) b()", becomes: ["if (!(a)) b()", "if (a) ;"] },
  { source: "slots.take(key)", becomes: [";"] },
  { source: "await save()", becomes: [";", "void save()"] },
])("changes one thing at a time: $source", ({ source, becomes }) => {
  expect(mutated(source)).toEqual(becomes)
})

test.each([
  'import { a } from "./a.ts"',
  "type T = { readonly is: true } & (A extends B ? true : false)",
  "x = a as true",
  "x = `${a}` + b",
  'x = "a" + b',
  "scope.log.warn(text)",
])("makes no mutant that no test could notice: %s", (source) => {
  expect(mutated(source)).toEqual([])
})

test("names the line of a mutant and the text that it replaces", () => {
  expect(findMutants("sample.ts", "// é 🙂\n\nx = a > b")).toEqual([
    { file: "sample.ts", line: 3, start: 15, end: 16, before: ">", after: ">=" },
  ])
})

const read = (...args: string[]) => readMutationOptions(process.cwd(), args, undefined)

test("takes a seed, a number of mutants and paths below src", () => {
  expect(read("--seed", "7", "--count", "3", "src/task")).toEqual({ seed: 7, count: 3, paths: ["src/task"] })
  expect(readMutationOptions(process.cwd(), [], "11")).toMatchObject({ seed: 11, count: 200 })
  expect(read("--seed", "7").paths).toContain("src/runner")
})

test.each([
  { args: ["../elsewhere"], message: "does not lie below src" },
  { args: ["/etc"], message: "does not lie below src" },
  { args: ["src/../test"], message: "does not lie below src" },
  { args: ["src/nothing"], message: "There is no src/nothing" },
  { args: ["--count", "0"], message: "--count is" },
  { args: ["--seed", "x"], message: "--seed is" },
  { args: ["--what"], message: "Unknown option" },
])("refuses $args", ({ args, message }) => {
  expect(() => read(...args)).toThrow(message)
})
