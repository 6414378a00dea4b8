import { expect, test } from "vitest"
import { toStoreError, toTrouble } from "./store-error.ts"

test("a password that nobody gave is asked for at once, in words, and not tried for a minute", () => {
  const error = new Error("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string")
  expect(toTrouble(error)).toMatchObject({ kind: "refused" })
  const told = String(toStoreError(error, { server: "db:5432/work", role: "ada" }))
  expect(told).toContain("asks for a password, and none was given")
  expect(told).not.toContain("SASL")
})

test("who may not do something is told for which role to ask", () => {
  const error = Object.assign(new Error("permission denied for table tasks"), { code: "42501" })
  const told = (role: string | null) => String(toStoreError(error, { server: "db:5432/work", role }))
  expect(told("ada")).toContain("Run `meanwhile migrate --grant ada` with the role that owns the store.")
  expect(told("ada")).toContain("(permission denied for table tasks)")
  expect(told(null)).toContain("--grant ROLE")
})
