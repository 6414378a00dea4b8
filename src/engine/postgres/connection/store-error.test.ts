import { expect, test } from "vitest"
import { toStoreError, toTrouble } from "./store-error.ts"

test("a password that nobody gave is asked for at once, in words, and not tried for a minute", () => {
  const error = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string")
  expect(toTrouble(error)).toMatchObject({ kind: "refused" })
  const told = String(toStoreError(error, "db:5432/work"))
  expect(told).toContain("asks for a password, and none was given")
  expect(told).not.toContain("SASL")
})
