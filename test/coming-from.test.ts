import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { findExpectedOutput } from "./support/documents/expected-output.ts"

const guide = readFileSync("docs/guide/coming-from.md", "utf8")

/** Our half of each program: the example it names, its code, and what it prints where the guide shows that. */
const halves = [
  ...guide.matchAll(
    /^Ours, .*\]\(\.\.\/\.\.\/(examples\/[\w-]+\.ts)\).*\n\n```ts\n([\s\S]*?)```\n(?:\n```text\n([\s\S]*?)```)?/gm,
  ),
].map(([, example = "", code = "", printed]) => ({ example, code, printed }))

test("the guide for users of other libraries shows four programs of ours, and no other code of ours", () => {
  expect(halves).toHaveLength(4)
  expect(guide.match(/^```ts$/gm)).toHaveLength(4)
})

test.each(halves)("the guide for users of other libraries shows $example as it is", ({ example, code, printed }) => {
  const source = readFileSync(example, "utf8")
  expect(source).toContain(code)
  if (printed !== undefined) expect(printed).toBe(findExpectedOutput(source))
})
