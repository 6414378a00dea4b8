import { expect, test } from "vitest"
import { createRedactor } from "../../runner/redaction/redactor.ts"
import { toShownInput } from "./shown-input.ts"

test("people see a call's input without secrets, and every command in it", () => {
  const redactor = createRedactor({ environment: { SERVICE_API_KEY: "known-to-us-1234" } })
  const command = 'deploy --password "$(rm -rf work)" --key known-to-us-1234'
  expect(toShownInput(redactor, { password: "hunter2hunter2", nested: [{ command }], count: 2 })).toEqual({
    password: "[redacted]",
    nested: [{ command: 'deploy --password "$(rm -rf work)" --key [redacted]' }],
    count: 2,
  })
})
