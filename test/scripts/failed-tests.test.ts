import { expect, test } from "vitest"
import { readFailedTests } from "../../scripts/mutation/failed-tests.ts"

const report = (...testResults: readonly object[]) => JSON.stringify({ success: false, testResults })
const file = (name: string, status: string, tests: Readonly<Record<string, string>>, message = "") => ({
  name: `/project/test/${name}`,
  status,
  message,
  assertionResults: Object.entries(tests).map(([fullName, state]) => ({ fullName, status: state })),
})

test("names the tests that failed, with their files, and none that passed or was left out", () => {
  const text = report(
    file("one.test.ts", "failed", { "a task ends": "passed", "a task begins": "failed", "a task waits": "skipped" }),
    file("two.test.ts", "passed", { "a task rests": "passed" }),
  )
  expect(readFailedTests("/project", text)).toEqual(["test/one.test.ts > a task begins"])
})

test("says of a file without a failed test why it failed", () => {
  const text = report(file("one.test.ts", "failed", {}, "Cannot find module './two.ts'"))
  expect(readFailedTests("/project", text)).toEqual(["test/one.test.ts: Cannot find module './two.ts'"])
})
