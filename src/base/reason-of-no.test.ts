import { expect, test } from "vitest"
import { toReasonOfNo } from "./reason-of-no.ts"

test.each([
  ["no", ""],
  ["N.", ""],
  ["no, use pnpm", "use pnpm"],
  [" No: use pnpm ", "use pnpm"],
  ["no - use pnpm", "use pnpm"],
  ["no tests here", "no tests here"],
  ["no-op tests are fine", "no-op tests are fine"],
])("the reason of %o is %o", (answer, reason) => {
  expect(toReasonOfNo(answer)).toBe(reason)
})
