import { expect, test } from "vitest"
import { TEST_SEED, toRepeatCommand } from "./seed.ts"

test("the command that repeats a round plays the rounds of a long run where it was one", () => {
  const command = (isLong: boolean) => toRepeatCommand("test/chaos/kill.slow.test.ts", "killed anywhere", isLong)
  const rest = 'test/chaos/kill.slow.test.ts -t "killed anywhere"'
  expect(command(false)).toBe(`MEANWHILE_TEST_SEED=${TEST_SEED} npx vitest run ${rest}`)
  expect(command(true)).toBe(`MEANWHILE_TEST_SEED=${TEST_SEED} npx vitest run --mode long ${rest}`)
})
