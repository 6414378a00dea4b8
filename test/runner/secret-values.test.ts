import { expect, test } from "vitest"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"

const toValue = (number: number) => `learned-value-${String(number).padStart(4, "0")}`

test("however many values are learned, those of the own environment stay known, and the newest of the others", () => {
  const { learn, redactText, redactBytes } = createRedactor({ environment: { OWN_TOKEN: "from the beginning" } })
  learn({ KEPT_TOKEN: "in use all the time" })
  for (let number = 1; number <= 1_000; number++) {
    learn({ SOME_TOKEN: toValue(number), KEPT_TOKEN: "in use all the time" })
  }
  expect(redactText("from the beginning, in use all the time")).toBe("[redacted], [redacted]")
  expect(redactBytes(Buffer.from("from the beginning")).toString()).toBe("*".repeat(18))
  expect(redactText(toValue(1_000))).toBe("[redacted]")
  expect(redactText(toValue(1))).toBe(toValue(1))
})
